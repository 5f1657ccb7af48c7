import Foundation
import PersistenceCore

/// W5: what an opening must find again, besides the records.
enum StoredStateChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "values of unique indexes are still taken after the store is reopened", [.w4, .w5],
      needs: [.writable, .durable], unique),
    ConformanceCheck(
      "a definition in another order of fields keeps the records, also after reopening", [.e4, .w5],
      needs: [.writable, .durable], reordered),
    ConformanceCheck(
      "models without records survive many updates of other models, and reopening", [.w5],
      needs: [.writable, .durable], emptyModels),
    ConformanceCheck(
      "values of several MiB are read back after reopening", [.v2, .w5],
      needs: [.writable, .durable, .values(ofBytes: 3 << 20)], largeValues
    ).slow,
  ]

  @Sendable private static func unique(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.insert(contentsOf: [
      Person("a", email: "1"), Person("b", email: "2"), Person("c", team: "red", seat: 1), Person("d"),
    ])
    try repository.insert(UniqueNumber(1, number: .nan))
    for round in 1...2 {
      try store.reopen(&repository)
      let place = "opening \(round + 1)"
      for (name, write) in [
        ("insert", { try repository.insert(Person("new", email: "1")) }),
        ("save", { try repository.save(Person("new", email: "2")) }),
        ("a compound index", { try repository.insert(Person("new", team: "red", seat: 1)) }),
        ("update", { try repository.update(Person("d", email: "2")) }),
        ("NaN", { try repository.insert(UniqueNumber(2, number: .nan)) }),
      ] as [(String, () throws -> Void)] {
        try expectError(.uniqueViolation, "\(name), \(place)", write)
      }
      try repository.update(Person("a", email: "1", team: "own value \(round)"))
    }
    try expect(repository.delete(Person.self, id: "a"), equals: true, "the deletion of a")
    try store.reopen(&repository)
    try repository.insert(Person("new", email: "1"))
    try expectError(.uniqueViolation, "the value's new owner") {
      try repository.insert(Person("newer", email: "1"))
    }
    try expect(repository.fetch(Person.self).map(\.id), equals: ["b", "c", "d", "new"], "the people")
  }

  @Sendable private static func reordered(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let fields = [
      FieldSchema("id", .int64), FieldSchema("name", .string), FieldSchema("size", .int64, isOptional: true),
    ]
    let indexes = [IndexSchema(["name"], isUnique: true), IndexSchema(["size"])]
    let first = try ModelSchema(name: "Thing", fields: fields, key: ["id"], indexes: indexes)
    let second = try ModelSchema(
      name: "Thing", fields: fields.reversed(), key: ["id"], indexes: indexes.reversed())
    try RowStore(repository.storage, first).save([
      [.integer(1), .text("a"), .integer(10)], [.integer(2), .text("b"), .null],
    ])
    for round in 1...2 {
      try store.reopen(&repository)
      // It defines the model before it writes.
      try RowStore(repository.storage, second).save([
        [.integer(20), .text("b\(round)"), .integer(2)]
      ])
      try store.reopen(&repository)
      let expected: [[PersistentValue]] = [
        [.integer(1), .text("a"), .integer(10)], [.integer(2), .text("b\(round)"), .integer(20)],
      ]
      let place = "after reopening, round \(round)"
      try expect(RowStore(repository.storage, first).rows(), equals: expected, "the rows \(place)")
      try expect(
        RowStore(repository.storage, second).rows(), equals: expected.map { $0.reversed() },
        "the rows in the other order, \(place)")
      try expect(repository.storage.catalog().map(\.name), equals: ["Thing"], "the catalog \(place)")
    }
  }

  @Sendable private static func emptyModels(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.storage.transaction { transaction in
      for schema in try [Person.schema.model, UniqueNumber.schema.model, Seat.schema.model] {
        try transaction.define(schema)
      }
    }
    try repository.insert(UniqueNumber(1, number: 1))
    try repository.save(contentsOf: (1...5).map { Account($0, balance: 0) })
    try repository.deleteAll(UniqueNumber.self)
    let catalog = try repository.storage.catalog()
    for round in 1...context.effort.times(60, thorough: 2_000) {
      try repository.save(Account(round % 5 + 1, balance: round, note: String(repeating: "note ", count: 40)))
    }
    for opening in 2...3 {
      try store.reopen(&repository)
      try expect(repository.storage.catalog(), equals: catalog, "the catalog, opening \(opening)")
      try expect(repository.count(Account.self), equals: 5, "the accounts, opening \(opening)")
      try expect(repository.count(UniqueNumber.self), equals: 0, "the deleted records, opening \(opening)")
    }
  }

  @Sendable private static func largeValues(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let sizes = [(1 << 21) - 1, (1 << 21) + 1, 3 << 20]
    var random = SeededGenerator(seed: 97)
    let words = (0..<(3 << 17)).map { _ in random.next() }
    let bytes = words.withUnsafeBytes { Data($0) }
    for (number, size) in sizes.enumerated() { try repository.save(Blob(number, bytes.prefix(size))) }
    let text = String(repeating: "0123456789abcdé", count: (3 << 20) / 16)
    try repository.save(Account(1, balance: 1, note: text))
    try store.reopen(&repository)
    for (number, size) in sizes.enumerated() {
      let found = try repository.find(Blob.self, id: number)?.bytes
      try expect(
        found == bytes.prefix(size), "the \(size) bytes, after reopening: \(found?.count ?? 0) bytes")
    }
    let note = try repository.find(Account.self, id: 1)?.note
    try expect(note == text, "\(text.utf8.count) bytes of text, after reopening: \(note?.utf8.count ?? 0)")
    try repository.save(Account(2, balance: 2))
    try store.reopen(&repository)
    try expect(repository.count(Account.self), equals: 2, "the accounts, after a write and reopening")
  }
}
