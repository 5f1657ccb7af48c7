import PersistenceCore

/// S1, S2, S5: a driver's changes of stored schemas.
enum SchemaChangeChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "one change renames, reorders, widens, fills, computes and erases, and the store is as if written so",
      [.s1, .s2], needs: [.writable, .droppingModels], everything),
    ConformanceCheck(
      "changes follow each other in a transaction, which reads and writes with each new schema", [.s2, .w3],
      needs: [.writable, .droppingModels], successive),
    ConformanceCheck(
      "a rolled-back change leaves schema, records and indexes, nested or not", [.s5, .w3],
      needs: [.writable, .droppingModels], rollback),
    ConformanceCheck(
      "a change that throws leaves its transaction as before the change", [.s5, .w4],
      needs: [.writable, .droppingModels], failures),
    ConformanceCheck(
      "a change from another schema than the stored one throws schemaMismatch", [.e4, .s5],
      needs: [.writable, .droppingModels], mismatch),
  ]

  private static func stored() throws -> ModelSchema {
    try ModelSchema(
      name: "Thing",
      fields: [
        FieldSchema("name", .string), FieldSchema("id", .int64),
        FieldSchema("size", .float, isOptional: true),
        FieldSchema("count", .int32), FieldSchema("link", .url), FieldSchema("old", .data),
      ], key: ["id"], indexes: [IndexSchema(["name"]), IndexSchema(["link"], isUnique: true)])
  }

  private static func row(_ id: Int) -> [PersistentValue] {
    [
      .text("n\(id % 5)"), .integer(Int64(id)), id % 3 == 0 ? .null : .double(Double(id) / 2),
      .integer(Int64(id * 10)), .text("https://example.org/\(id)"), .bytes([UInt8(id)]),
    ]
  }

  private static func target() throws -> ModelSchema {
    try ModelSchema(
      name: "Item",
      fields: [
        FieldSchema("count", .int64), FieldSchema("grade", .int16), FieldSchema("title", .string),
        FieldSchema("label", .string, isOptional: true), FieldSchema("id", .int64),
        FieldSchema("size", .double),
        FieldSchema("place", .string), FieldSchema("note", .date, isOptional: true),
      ], key: ["id"],
      indexes: [
        IndexSchema(["grade", "count"]), IndexSchema(["title"]), IndexSchema(["place"], isUnique: true),
      ])
  }

  private static func changed(_ id: Int) -> [PersistentValue] {
    let old = row(id)
    return [
      old[3], .integer(7), old[0], id % 2 == 0 ? .null : .text("n\(id % 5)-\(id * 10)"), old[1],
      old[2].isNull ? .double(0.5) : old[2], old[4], .null,
    ]
  }

  private static func change() throws -> SchemaChange {
    try SchemaChange(
      from: stored(), to: target(),
      sources: [
        .field(3), .fill(.integer(7)), .field(0), .computed, .field(1), .field(2, replacingNil: .double(0.5)),
        .field(4), .fill(.null),
      ]
    ) { row, computed in
      guard case .text(let name) = try row.value(at: 0), case .integer(let count) = try row.value(at: 3)
      else {
        throw SuiteError()
      }
      computed.set(count % 20 == 0 ? .null : .text("\(name)-\(count)"), at: 0)
    }
  }

  /// The stored schema with one more field.
  private static func addition(_ value: PersistentValue = .integer(3)) throws -> SchemaChange {
    let stored = try stored()
    let target = try ModelSchema(
      name: "Thing", fields: stored.fields + [FieldSchema("added", .int64)], key: stored.key,
      indexes: stored.indexes)
    return try SchemaChange(
      from: stored, to: target, sources: stored.fields.indices.map { .field($0) } + [.fill(value)])
  }

  private static func filled(_ context: ContextUnderTest) throws -> (StoreUnderTest, any StorageContext) {
    let store = try context.makeStore()
    let storage = try store.open().storage
    try RowStore(storage, stored()).save((1...60).map(row))
    return (store, storage)
  }

  @Sendable private static func everything(_ context: ContextUnderTest) throws {
    var (store, storage) = try filled(context)
    let (change, target) = (try change(), try target())
    _ = try storage.cost(of: change)
    try storage.transaction { try $0.evolve(change) }
    var rows = (1...60).map(changed)
    func check(_ place: String) throws {
      let items = RowStore(storage, target)
      try expect(storage.catalog(), equals: [target], place)
      try expect(items.rows(), equals: rows, place)
      for row in rows { try expect(items.find([row[4]]), equals: row, "find, \(place)") }
      for order in ["count", "title", "place", "grade", "size", "label"] {
        let position = target.position(of: order) ?? 0
        let sorted = rows.sorted { left, right in
          let order = PersistentValue.compare(left[position], right[position])
          return (order != 0 ? order : PersistentValue.compare(left[4], right[4])) < 0
        }
        try expect(items.rows(order: [FieldOrder(order)]), equals: sorted, "by \(order), \(place)")
      }
      func expectMatches(_ field: String, _ value: PersistentValue) throws {
        let position = target.position(of: field) ?? 0
        let condition = PredicateNode.comparison(field: field, .equal, value)
        try expect(
          items.rows(where: condition), equals: rows.filter { $0[position] == value }, "\(field), \(place)")
        try expect(
          storage.count(FetchRequest(target, where: .not(condition))),
          equals: rows.count { $0[position] != value }, "not \(field), \(place)")
      }
      try expectMatches("grade", .integer(7))
      try expectMatches("note", .null)
      try expectMatches("size", .double(0.5))
      try expectMatches("title", .text("n3"))
      try expectMatches("label", .text("n3-130"))
      try expectMatches("place", .text("https://example.org/44"))
      let sum = try storage.aggregate(AggregateRequest(FetchRequest(target), aggregates: [.sum(of: "grade")]))
      let grades = rows.map { row in if case .integer(let grade) = row[1] { grade } else { Int64(0) } }
      try expect(sum.first?.values, equals: [.integer(grades.reduce(0, +))], "a sum, \(place)")
      try expect(storage.schema(named: "Thing") == nil, "the earlier name, \(place)")
    }
    try check("after the change")
    var twin = rows[4]
    (twin[4], twin[0]) = (.integer(99), .integer(5_000_000_000))
    let values = twin
    try storage.transaction { transaction in
      try expectError(.uniqueViolation) { try transaction.insert([values], in: target) }
    }
    (twin[6], rows[8][1], rows[8][7]) = (.text("elsewhere"), .integer(1), .date(1))
    let saved = [twin, rows[8]]
    try storage.transaction { try $0.save(saved, in: target) }
    rows.append(twin)
    try check("after writes")
    guard storage.capabilities.isDurable else { return }
    try storage.close()
    storage = try store.open().storage
    try check("after reopening")
  }

  @Sendable private static func successive(_ context: ContextUnderTest) throws {
    let (_, storage) = try filled(context)
    let first = try addition()
    let fields = first.target.fields + [FieldSchema("second", .int64)]
    let target = try ModelSchema(
      name: "Thing", fields: fields, key: ["id"], indexes: first.target.indexes + [IndexSchema(["added"])])
    let second = try SchemaChange(
      from: first.target, to: target, sources: (0..<7).map { .field($0) } + [.fill(.integer(5))])
    try storage.transaction { transaction in
      try transaction.evolve(first)
      try expect(
        RowStore.rows(of: FetchRequest(first.target), from: transaction),
        equals: (1...60).map { row($0) + [.integer(3)] })
      try transaction.save([row(61) + [.integer(4)], row(2) + [.integer(4)]], in: first.target)
      try transaction.evolve(second)
      try transaction.insert([row(62) + [.integer(6), .integer(6)]], in: target)
      try expectError(.schemaMismatch) { try transaction.count(FetchRequest(first.target)) }
    }
    let expected = (1...62).map { id in
      row(id) + [.integer(id == 62 ? 6 : id == 61 || id == 2 ? 4 : 3), .integer(id == 62 ? 6 : 5)]
    }
    try expect(RowStore(storage, target).rows(), equals: expected)
    let threes = try RowStore(storage, target).rows(
      where: .comparison(field: "added", .equal, .integer(3)), order: [FieldOrder("added")])
    try expect(threes.count, equals: 59)
  }

  @Sendable private static func rollback(_ context: ContextUnderTest) throws {
    let (store, storage) = try filled(context)
    let (stored, change, addition) = (try stored(), try change(), try addition())
    let before = try StoredContent(storage)
    func check(_ reader: any StorageReader, _ place: String) throws {
      try expect(reader.catalog(), equals: [stored], place)
      try expect(RowStore.rows(of: FetchRequest(stored), from: reader), equals: (1...60).map(row), place)
      let condition = PredicateNode.comparison(field: "name", .equal, .text("n1"))
      try expect(reader.count(FetchRequest(stored, where: condition)), equals: 12, place)
      try expectError(.schemaMismatch, place) { try reader.count(FetchRequest(addition.target)) }
    }
    for change in [change, addition] {
      try expectThrows(SuiteError()) {
        try storage.transaction { transaction in
          try transaction.evolve(change)
          try expect(transaction.count(FetchRequest(change.target)), equals: 60)
          throw SuiteError()
        }
      }
      try check(storage, "after a rollback")
      try storage.transaction { transaction in
        try expectThrows(SuiteError()) {
          try transaction.nested {
            try transaction.evolve(change)
            _ = try transaction.deleteAll(in: change.target)
            throw SuiteError()
          }
        }
        try check(transaction, "after a nested rollback")
        try transaction.save([row(1)], in: stored)
        try expectError(.uniqueViolation, "after a nested rollback") {
          var twin = row(70)
          twin[4] = row(5)[4]
          try transaction.insert([twin], in: stored)
        }
      }
      try expect(StoredContent(storage), equals: before, "after a nested rollback")
      if storage.capabilities.isMultiProcess { try check(store.open().storage, "another context") }
    }
    try storage.transaction { transaction in try transaction.nested { try transaction.evolve(addition) } }
    try expect(storage.catalog(), equals: [addition.target], "after a nested commit")
  }

  @Sendable private static func failures(_ context: ContextUnderTest) throws {
    let (_, storage) = try filled(context)
    let stored = try stored()
    let added = try addition().target
    let sources: [SchemaChange.Source] = stored.fields.indices.map { .field($0) }
    let failing = try SchemaChange(from: stored, to: added, sources: sources + [.computed]) { row, computed in
      guard try row.value(at: 1) != .integer(60) else { throw SuiteError() }
      computed.set(.integer(1), at: 0)
    }
    let wrongKind = try SchemaChange(from: stored, to: added, sources: sources + [.computed]) {
      $1.set(.text(""), at: 0)
    }
    let unique = try ModelSchema(
      name: "Thing", fields: stored.fields, key: ["id"], indexes: [IndexSchema(["name"], isUnique: true)])
    let colliding = try SchemaChange(from: stored, to: unique, sources: sources)
    try storage.transaction { transaction in
      try transaction.save([row(61)], in: stored)
      func check(_ place: String) throws {
        try expect(transaction.catalog(), equals: [stored], place)
        try expect(
          RowStore.rows(of: FetchRequest(stored), from: transaction), equals: (1...61).map(row), place)
      }
      try expectThrows(SuiteError()) { try transaction.evolve(failing) }
      try check("after an error of the closure")
      try expectError(.invalidRequest) { try transaction.evolve(wrongKind) }
      try check("after a value of another kind")
      let error = try expectError(.uniqueViolation) { try transaction.evolve(colliding) }
      try expect(error.model == "Thing", "\(error)")
      try check("after a collision")
    }
    try expect(storage.catalog(), equals: [stored])
    try expect(RowStore(storage, stored).rows(order: [FieldOrder("link")]).count, equals: 61)
  }

  @Sendable private static func mismatch(_ context: ContextUnderTest) throws {
    let (_, storage) = try filled(context)
    let stored = try stored()
    let addition = try addition()
    let other = try SchemaChange(from: addition.target, to: stored, sources: (0..<6).map { .field($0) })
    try expectError(.schemaMismatch) { try storage.transaction { try $0.evolve(other) } }
    try expect(StoredContent(storage).rows, equals: [(1...60).map(row)])
    try storage.transaction { try $0.evolve(addition) }
    try expectError(.schemaMismatch, "a change that was made") {
      try storage.transaction { try $0.evolve(addition) }
    }
    try expect(storage.catalog(), equals: [addition.target])
    let empty = try context.makeStore().open().storage
    try empty.transaction { try $0.define(stored) }
    try expect(empty.cost(of: change()), equals: .catalog, "the cost without records")
    try empty.transaction { try $0.evolve(change()) }
    try expect(empty.catalog(), equals: [target()], "a model without records")
  }
}
