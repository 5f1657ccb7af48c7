import Foundation
import PersistenceCore

/// E4: stores with another schema, for every kind and for several differences at once.
enum KindMismatchChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a field declared with another kind than stored throws schemaMismatch, naming the field"
        + " and both kinds", [.e4], everyKind),
    ConformanceCheck(
      "schemaMismatch names every different field, key and index, and the store is unchanged,"
        + " byte for byte", [.e4, .e2], allDifferences),
    ConformanceCheck(
      "names that differ only by case or normal form are different fields and models",
      [.e4, .e6, .v3], lookalikes),
  ]

  @Sendable private static func everyKind(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    func schema(_ stored: FieldKind, _ declared: FieldKind, isOptional: Bool) throws -> ModelSchema {
      try ModelSchema(
        name: "Of \(stored.rawValue)",
        fields: [FieldSchema("id", .int64), FieldSchema("field", declared, isOptional: isOptional)],
        key: ["id"])
    }
    for kind in FieldKind.allCases {
      try RowStore(storage, schema(kind, kind, isOptional: true)).save([[.integer(1), .null]])
    }
    for stored in FieldKind.allCases {
      for declared in FieldKind.allCases {
        for isOptional in [true, false] where stored != declared || !isOptional {
          let what = "stored as \(stored.rawValue)?, declared as \(declared.rawValue)\(isOptional ? "?" : "")"
          let other = try schema(stored, declared, isOptional: isOptional)
          for error in try expectErrors(
            .schemaMismatch, what, calls: { try storage.fetch(FetchRequest(other)) },
            { try storage.transaction { try $0.define(other) } })
          {
            try expect(
              ["field", stored.rawValue, declared.rawValue].allSatisfy(error.message.contains),
              "\(what): \(error)")
          }
        }
      }
      let rows = try RowStore(storage, schema(stored, stored, isOptional: true)).rows()
      try expect(rows, equals: [[.integer(1), .null]], stored.rawValue)
    }
  }

  @Sendable private static func allDifferences(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let stored = try ModelSchema(
      name: "Thing",
      fields: [
        FieldSchema("id", .int64), FieldSchema("code", .string), FieldSchema("kept", .bool),
        FieldSchema("gone", .date), FieldSchema("changed", .int32),
        FieldSchema("loose", .uuid, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["code"]), IndexSchema(["gone", "code"])])
    let declared = try ModelSchema(
      name: "Thing",
      fields: [
        FieldSchema("id", .int64), FieldSchema("code", .string), FieldSchema("kept", .bool),
        FieldSchema("added", .url), FieldSchema("changed", .decimal), FieldSchema("loose", .uuid),
      ], key: ["code", "id"], indexes: [IndexSchema(["code"], isUnique: true), IndexSchema(["changed"])])
    let row: [PersistentValue] = [
      .integer(1), .text("c"), .bool(true), .date(1), .integer(2), .uuid(UUID.samples[1]),
    ]
    try RowStore(repository.storage, stored).save([row])
    let isDurable = try repository.storage.capabilities.isDurable
    if isDurable { try repository.close() }
    let before = isDurable ? try store.contents() : [:]
    if isDurable { repository = try store.open() }
    let storage = try repository.storage
    let other: [PersistentValue] = [
      .integer(9), .text("d"), .bool(true), .text("u:"), .decimal(1), .uuid(UUID.samples[1]),
    ]
    let key = RecordKey([.text("c"), .integer(1)])
    let errors = try expectErrors(
      .schemaMismatch, calls: { try storage.fetch(FetchRequest(declared)) },
      { try storage.count(FetchRequest(declared, limit: 0)) },
      { try storage.fetch(FetchRequest(declared, limit: 0)) },
      { try storage.transaction { _ = try $0.count(FetchRequest(declared, limit: 0)) } },
      { try storage.transaction { _ = try $0.delete(FetchRequest(declared, limit: 0)) } },
      { try storage.plan(for: FetchRequest(declared)) }, { try storage.find(key, in: declared) { _ in } },
      { try storage.transaction { try $0.define(declared) } },
      { try storage.transaction { store in try other.withRow { try store.insert($0, in: declared) } } },
      { try storage.transaction { store in try other.withRow { try store.update($0, in: declared) } } },
      { try storage.transaction { store in try other.withRow { try store.save($0, in: declared) } } },
      { try storage.transaction { _ = try $0.delete(key, in: declared) } },
      { try storage.transaction { _ = try $0.deleteAll(in: declared) } })
    for error in errors {
      for word in [
        "Thing", "gone", "date", "added", "url", "changed", "int32", "decimal", "loose", "key", "index",
        "unique",
      ] {
        try expect(error.message.contains(word), "“\(word)” in “\(error)”")
      }
      try expect(!error.message.contains("kept"), "an unchanged field in “\(error)”")
      try expect(error.model == "Thing" && error.location == storage.location, "\(error)")
    }
    try expect(RowStore(storage, stored).rows(), equals: [row])
    try expect(storage.catalog(), equals: [stored])
    guard isDurable else { return }
    try repository.close()
    // Engines add and remove files for readers; all other files must be unchanged.
    let after = try store.contents()
    for (name, bytes) in before where !name.hasSuffix("-shm") && !name.contains("lock") {
      try expect(after[name] == bytes, "the file \(name)")
    }
  }

  @Sendable private static func lookalikes(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    func schema(_ model: String, _ field: String) throws -> ModelSchema {
      try ModelSchema(
        name: model, fields: [FieldSchema("id", .int64), FieldSchema(field, .int64)], key: ["id"])
    }
    let names = ["name", "Name", "NAME", "nam\u{E9}", "name\u{301}", "name ", "name\0", "ｎame"]
    for (number, name) in names.enumerated() {
      try RowStore(storage, schema(name, name)).save([[.integer(1), .integer(Int64(number))]])
    }
    for (number, name) in names.enumerated() {
      try expect(
        RowStore(storage, schema(name, name)).rows(), equals: [[.integer(1), .integer(Int64(number))]],
        name.exactText)
      for other in names where other.exactText != name.exactText {
        try expectError(.schemaMismatch, "the model \(name.exactText) with a field \(other.exactText)") {
          try storage.fetch(FetchRequest(schema(name, other)))
        }
        // Such names may exist side by side.
        let both = try ModelSchema(
          name: "both \(name) \(other)",
          fields: [FieldSchema("id", .int64), FieldSchema(name, .string), FieldSchema(other, .string)],
          key: ["id"], indexes: [IndexSchema([name]), IndexSchema([other], isUnique: true)])
        guard name < other else { continue }
        let rows = RowStore(storage, both)
        try rows.save([[.integer(1), .text("a"), .text("b")], [.integer(2), .text("b"), .text("a")]])
        try expect(
          rows.rows(where: .comparison(field: name, .equal, .text("b"))).map { $0[0] }, equals: [.integer(2)],
          "\(name.exactText) beside \(other.exactText)")
        try expect(
          rows.rows(order: [FieldOrder(other)]).map { $0[0] }, equals: [.integer(2), .integer(1)],
          "\(name.exactText) beside \(other.exactText)")
      }
    }
  }
}
