import Foundation
import PersistenceCore

/// E6: hostile names and keys are data.
enum HostileNameChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("model names cannot escape the store and do not collide", [.e6], models),
    ConformanceCheck("hostile field names can be stored, queried, sorted and indexed", [.e6], fields),
    ConformanceCheck("a model can have the name of another model's index or table", [.e6], indexNames),
    ConformanceCheck(
      "hostile text keys, and keys of every length around an engine's limits, are stored as data", [.e6], keys
    ),
    ConformanceCheck(
      "long keys and long indexed values with a common prefix keep their order and uniqueness", [.e6],
      longValues),
  ]

  /// Names with a special meaning for an engine, a file system or a query language.
  private static let names: [String] = [
    "../../x", "a/b", "/", ".", "..", "CON", "con", "NUL.txt", "", " ", "sqlite_x", "sqlite_master", "SELECT",
    "a\"b", "a'b", "a;b--", "a`b", "[a]", "a\\b", "a\0b", "\0", "index", "rowid", "_rowid_", "oid", "name",
    "Name", "NAME", "\u{E9}", "e\u{301}", "E\u{301}", "%", "a%2Fb", "%2E%2E", "a*?<>|:", "\n", "~", "-",
    "data.mdb", "lock.mdb",
    // For byte readers, a character stays the same before a combining scalar.
    "a\"\u{301}b", "a'\u{301}b", "/\u{301}", "a/\u{301}b", ".\u{301}", "%\u{301}2F", "+\u{301}",
    "sqlite_\u{301}x", "persistence_\u{301}x", ".json\u{301}", ".persistence", "catalog", "👩‍👩‍👧", "\u{202E}x",
    "x.json", "_x", "persistence_x", String(repeating: "n", count: 300), String(repeating: "n", count: 301),
    String(repeating: "é", count: 150), String(repeating: "k", count: 511),
    String(repeating: "k", count: 512), String(repeating: "k", count: 1000),
  ]

  private static func schema(_ name: String, fields: [String] = []) throws -> ModelSchema {
    try ModelSchema(
      name: name,
      fields: [FieldSchema("id", .string)] + fields.map { FieldSchema($0, .string, isOptional: true) },
      key: ["id"], indexes: fields.map { IndexSchema([$0]) })
  }

  @Sendable private static func models(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    for name in Self.names {
      try RowStore(repository.storage, Self.schema(name)).save([[.text("of \(name)")]])
    }
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      let known = try repository.storage.catalog().map(\.name.exactText)
      try expect(known, equals: Self.names.sorted { String.oracle($0, $1) < 0 }.map(\.exactText))
      for name in Self.names {
        try expect(
          RowStore(repository.storage, Self.schema(name)).rows(), equals: [[.text("of \(name)")]],
          "\(name.debugDescription)")
      }
    }
    try repository.storage.transaction { _ = try $0.deleteAll(in: Self.schema("name")) }
    try expect(RowStore(repository.storage, Self.schema("name")).rows().isEmpty)
    try expect(RowStore(repository.storage, Self.schema("Name")).rows().count, equals: 1)
    // The folder contains only the store.
    let beside = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    try expect(beside.allSatisfy { $0.hasPrefix("store") })
  }

  @Sendable private static func fields(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = Self.names.filter { $0 != "id" }
    let schema = try Self.schema("Fields", fields: names)
    let rows = RowStore(try repository.storage, schema)
    let first: [PersistentValue] = [.text("1")] + names.map { .text("a of \($0)") }
    let second: [PersistentValue] = [.text("2")] + names.map { _ in .null }
    try rows.save([first, second])
    try expect(rows.rows(), equals: [first, second])
    for (number, name) in names.enumerated() {
      let same = PredicateNode.comparison(field: name, .equal, .text("a of \(name)"))
      try expect(rows.rows(where: same), equals: [first], "\(name.debugDescription)")
      try expect(rows.rows(where: .not(same)), equals: [second], "\(name.debugDescription)")
      try expect(rows.rows(order: [FieldOrder(name)]), equals: [second, first], "\(name.debugDescription)")
      try expect(
        rows.rows(order: [FieldOrder(name, isDescending: true)]).first?[number + 1],
        equals: first[number + 1])
    }
    try expect(repository.storage.catalog(), equals: [schema])
  }

  @Sendable private static func indexNames(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let first = try ModelSchema(
      name: "T", fields: [FieldSchema("id", .int64), FieldSchema("a", .string), FieldSchema("b", .string)],
      key: ["id"],
      indexes: [IndexSchema(["a"]), IndexSchema(["a", "b"]), IndexSchema(["b"], isUnique: true)])
    let rows = RowStore(try repository.storage, first)
    try rows.save([[.integer(1), .text("x"), .text("y")]])
    let others = [
      "T_a", "T.a", "T a", "T_a_b", "T(a)", "T_b_unique", "index_T_a", "T_index_a", "a", "T_a_idx", "idx_T_a",
      "T/a", "unique", "records", "T_view", "T_readable", "t", "T ", "T\0",
    ]
    for name in others {
      try RowStore(repository.storage, Self.schema(name, fields: ["a"])).save([[.text(name), .null]])
    }
    try expect(rows.rows(where: .comparison(field: "a", .equal, .text("x"))).count, equals: 1)
    for name in others {
      try expect(
        RowStore(repository.storage, Self.schema(name, fields: ["a"])).rows(), equals: [[.text(name), .null]])
    }
    try expect(repository.storage.catalog().count, equals: others.count + 1)
    // Two indexes whose concatenated names are equal.
    let clash = try ModelSchema(
      name: "Clash",
      fields: [
        FieldSchema("id", .int64), FieldSchema("a_b", .string), FieldSchema("c", .string),
        FieldSchema("a", .string), FieldSchema("b_c", .string),
      ], key: ["id"],
      indexes: [
        IndexSchema(["a_b", "c"]), IndexSchema(["a", "b_c"]), IndexSchema(["a_b", "c"], isUnique: true),
      ])
    let clashing = RowStore(try repository.storage, clash)
    try clashing.save([[.integer(1), .text("1"), .text("2"), .text("3"), .text("4")]])
    try expectError(.uniqueViolation) {
      try clashing.save([[.integer(2), .text("1"), .text("2"), .text("5"), .text("6")]])
    }
    try expect(clashing.rows().count, equals: 1)
  }

  @Sendable private static func keys(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let stem = String(repeating: "p", count: 505)
    let keys =
      Self.names + (0...12).map { stem + String(repeating: "z", count: $0) }
      + (0...5).map { stem + stem + "\($0)" }
    try repository.insert(contentsOf: keys.map { Keyed($0, "of \($0)") })
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      let query = repository.filter(Keyed<String>.self)
      let sorted = keys.sorted { String.oracle($0, $1) < 0 }
      try expect(repository.fetch(Keyed<String>.self).map(\.id.exactText), equals: sorted.map(\.exactText))
      try expect(
        query.sorted(by: \.id, inOrder: .descending).result().map(\.id.exactText),
        equals: sorted.reversed().map(\.exactText))
      try expect(pages(of: 7, query).map(\.id.exactText), equals: sorted.map(\.exactText))
      for key in keys {
        try expect(
          repository.find(Keyed<String>.self, id: key)?.label, equals: "of \(key)", "\(key.debugDescription)")
        try expect(
          query.filter(where: \.label == "of \(key)").result().map(\.id.exactText), equals: [key.exactText])
      }
    }
    for key in keys { try expect(repository.delete(Keyed<String>.self, id: key), "\(key.debugDescription)") }
    try expect(repository.count(Keyed<String>.self), equals: 0)
    let beside = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    try expect(beside.allSatisfy { $0.hasPrefix("store") })
  }

  @Sendable private static func longValues(_ context: ContextUnderTest) throws {
    let stem = String(repeating: "é", count: 600)
    let values =
      (0..<20).map { stem + "\($0 * 7 % 20)" } + [stem, stem + "\0", String(repeating: "x", count: 100_000)]
    let repository = try context.makeRepository(
      with: values.enumerated().map { Person("\($0)", email: $1, team: $1) })
    let query = repository.filter(Person.self)
    let sorted = values.sorted { String.oracle($0, $1) < 0 }
    try expect(
      query.sorted(by: \.email).result().map { $0.email.exactText },
      equals: sorted.map { Optional($0).exactText })
    try expect(
      query.sorted(by: \.team, inOrder: .descending).result().map(\.team.exactText),
      equals: sorted.reversed().map(\.exactText))
    try expect(pages(of: 4, query.sorted(by: \.team)).map(\.team.exactText), equals: sorted.map(\.exactText))
    for value in values {
      try expect(query.filter(where: \.email == value).count(), equals: 1)
      try expect(
        query.filter(where: \.email > value).count(),
        equals: sorted.filter { String.oracle($0, value) > 0 }.count)
      try expectError(.uniqueViolation) { try repository.insert(Person("again", email: value)) }
    }
  }
}
