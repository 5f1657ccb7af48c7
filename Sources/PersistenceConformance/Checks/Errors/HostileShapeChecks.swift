import Foundation
import PersistenceCore

/// Names with a special meaning for an engine, a file system or a query language.
enum HostileNames {
  /// One name for each kind of difficulty.
  static let all: [String] = [
    "../../x", "a/b", "..", "CON", "", "sqlite_x", "sqlite_sequence", "rowid", "ROWID", "_rowid_", "oid",
    "id ", "key", "SELECT", "select", "ORDER BY", "NULL", "rank", "rownum", "T_a", "T(a)", "a\"b", "a]b",
    "a`b", "a;b--", "?1", ":a", "@a", "$a", "%s", "\0", "a\0b", "\u{E9}", "e\u{301}", "👩‍👩‍👧", "\u{202E}x", "\n",
    "a.b", "new", "old", "excluded", "value", "json", "key\u{FEFF}", "\u{10FFFF}", "0", "1e3", "true", "-",
    "*", String(repeating: "n", count: 299) + "1", String(repeating: "n", count: 299) + "2",
    String(repeating: "é", count: 255) + "a", String(repeating: "é", count: 255) + "b",
  ]
}

/// E6: hostile names in every part of a schema, with every shape of key.
enum HostileShapeChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a hostile name works as a model, field, key field and index field, with a key of any kind",
      [.e6, .o1], everyPart),
    ConformanceCheck(
      "hostile text works as a value in compound keys, unique indexes and predicates", [.e6], values),
    ConformanceCheck("errors state hostile names unchanged", [.e6, .e2, .w4], namedInErrors),
    ConformanceCheck("a model with many fields and indexes keeps each one separate", [.e6], manyFields),
  ]

  @Sendable private static func everyPart(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let kinds: [(FieldKind, [PersistentValue])] = [
      (.int64, [.integer(.min), .integer(7), .integer(.max)]),
      (.string, [.text(""), .text("../x"), .text("\0")]), (.uuid, UUID.samples.prefix(3).map { .uuid($0) }),
    ]
    func schema(_ name: String, _ kind: FieldKind, isComposite: Bool) throws -> ModelSchema {
      try ModelSchema(
        name: name + "\(kind.rawValue)\(isComposite)",
        fields: [
          FieldSchema("x", .int64), FieldSchema(name + "k", kind),
          FieldSchema(name, .string, isOptional: true),
        ], key: isComposite ? [name + "k", "x"] : [name + "k"],
        indexes: [
          IndexSchema([name]), IndexSchema([name, name + "k"]), IndexSchema(["x", name], isUnique: true),
        ])
    }
    func rows(_ keys: [PersistentValue]) -> [[PersistentValue]] {
      keys.enumerated().map { [.integer(Int64($0)), $1, $0 == 1 ? .null : .text("t\($0)")] }
    }
    var cases: [(ModelSchema, [[PersistentValue]])] = []
    for (number, name) in HostileNames.all.enumerated() {
      let (kind, keys) = kinds[number % 3]
      let ordered = keys.sorted()
      cases.append((try schema(name, kind, isComposite: number.isMultiple(of: 2)), rows(ordered)))
      // With an integer key, engines have names of their own.
      if kind != .int64 { cases.append((try schema(name, .int64, isComposite: false), rows(kinds[0].1))) }
    }
    for (schema, rows) in cases { try RowStore(repository.storage, schema).save(rows) }
    try store.reopen(&repository)
    for (schema, rows) in cases {
      let what = "\(schema.name.exactText)"
      let found = try RowStore(repository.storage, schema)
      let (key, name) = (schema.fields[1].name, schema.fields[2].name)
      let count = rows.count
      try expect(found.rows(), equals: rows, what)
      try expect(
        found.rows(order: [FieldOrder(name)]), equals: [rows[1], rows[0], rows[2]],
        "\(what) sorted by its field")
      try expect(
        found.rows(order: [FieldOrder(key, isDescending: true)]), equals: rows.reversed(),
        "\(what) sorted by its key")
      try expect(
        found.rows(where: .text(field: name, .hasSuffix, "2", isCaseInsensitive: true)), equals: [rows[2]],
        what)
      try expect(found.rows(where: .comparison(field: key, .equal, rows[0][1])), equals: [rows[0]], what)
      try expect(
        found.rows(
          where: .all([
            .comparison(field: key, .less, rows[2][1]), .comparison(field: name, .notEqual, .null),
          ])), equals: [rows[0]], what)
      try expect(found.find(schema.keyPositions.map { rows[1][$0] }), equals: rows[1], what)
      try expect(found.delete(schema.keyPositions.map { rows[1][$0] }), what)
      try expect(found.rows().count, equals: count - 1, what)
    }
    let beside = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    try expect(beside.allSatisfy { $0.hasPrefix("store") }, "\(beside)")
  }

  @Sendable private static func values(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = HostileNames.all
    let seats = names.enumerated().map { Seat(hall: UUID.samples[0], row: $1, number: $0 % 2, label: $1) }
    try repository.insert(contentsOf: seats)
    try repository.insert(contentsOf: names.enumerated().map { UniqueValue($0, $1, group: $1, member: $1) })
    let query = repository.filter(UniqueValue<String>.self)
    for (number, name) in names.enumerated() {
      let what = name.exactText
      let key = Seat.ID(hall: UUID.samples[0], row: name, number: number % 2)
      try expect(repository.find(Seat.self, id: key)?.label.exactText, equals: name.exactText, what)
      let other = Seat.ID(hall: UUID.samples[0], row: name, number: 5)
      try expect(repository.find(Seat.self, id: other) == nil, what)
      let conditions: [PersistentPredicate<UniqueValue<String>>] = [
        \.value == name, .in(\.group, [name]), .between(\.member, name...name),
        \.value == name && \.value == \.member,
      ]
      for condition in conditions { try expect(query.filter(where: condition).ids(), equals: [number], what) }
      try expectError(.uniqueViolation, what) { try repository.insert(UniqueValue(999, name)) }
    }
    for (number, name) in names.enumerated() {
      let key = Seat.ID(hall: UUID.samples[0], row: name, number: number % 2)
      try expect(repository.delete(Seat.self, id: key), name.exactText)
      try expect(repository.count(Seat.self), equals: names.count - number - 1, name.exactText)
    }
  }

  @Sendable private static func namedInErrors(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    for name in HostileNames.all {
      let schema = try ModelSchema(
        name: name, fields: [FieldSchema("id", .int64), FieldSchema(name + "f", .string)], key: ["id"],
        indexes: [IndexSchema([name + "f"], isUnique: true)])
      let rows = RowStore(storage, schema)
      try rows.save([[.integer(1), .text(name)]])
      let unique = try expectError(.uniqueViolation, name.exactText) {
        try rows.save([[.integer(2), .text(name)]])
      }
      try expect(unique.model?.exactText, equals: name.exactText)
      try expect(unique.field?.exactText, equals: (name + "f").exactText)
      let unknown = try expectError(.unknownField, name.exactText) {
        try rows.rows(where: .comparison(field: name + "?", .equal, .null))
      }
      try expect(unknown.field?.exactText, equals: (name + "?").exactText)
      let changed = try ModelSchema(name: name, fields: [FieldSchema("id", .int64)], key: ["id"])
      let mismatch = try expectError(.schemaMismatch, name.exactText) {
        try storage.fetch(FetchRequest(changed))
      }
      try expect(mismatch.model?.exactText, equals: name.exactText)
      try expect(rows.rows(), equals: [[.integer(1), .text(name)]], name.exactText)
    }
  }

  @Sendable private static func manyFields(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = (0..<150).map { "f\($0)" }
    let schema = try ModelSchema(
      name: "Wide",
      fields: [FieldSchema("id", .int64)] + names.map { FieldSchema($0, .int64, isOptional: true) },
      key: ["id"], indexes: names.prefix(40).map { IndexSchema([$0]) })
    let rows = RowStore(try repository.storage, schema)
    func row(_ id: Int64) -> [PersistentValue] {
      [.integer(id)] + names.indices.map { $0 % 7 == Int(id) ? .null : .integer(Int64($0) * id) }
    }
    try rows.save([row(1), row(2), row(3)])
    try expect(rows.rows(), equals: [row(1), row(2), row(3)])
    for place in [1, 39, 40, 149] {
      try expect(
        rows.rows(where: .comparison(field: names[place], .equal, .integer(Int64(place) * 3))),
        equals: [row(3)], names[place])
    }
  }
}
