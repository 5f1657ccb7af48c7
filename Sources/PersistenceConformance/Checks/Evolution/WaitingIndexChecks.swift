import PersistenceCore

/// S9: indexes that a change of schema leaves unbuilt.
enum WaitingIndexChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "no request reads an index before it contains every record", [.s9, .o2],
      needs: [.writable, .droppingModels], unread),
    ConformanceCheck(
      "records written while an index is built are in the finished index", [.s9, .w3],
      needs: [.writable, .droppingModels], writing),
    ConformanceCheck(
      "a unique index guards from the change that lets other indexes wait", [.s9, .w4],
      needs: [.writable, .droppingModels], unique),
    ConformanceCheck(
      "an index build goes on after the store is opened again", [.s9],
      needs: [.writable, .droppingModels, .durable], reopened),
    ConformanceCheck(
      "two contexts continue each other's index build", [.s9, .c2],
      needs: [.writable, .droppingModels, .multiProcess], otherContext),
    ConformanceCheck(
      "further changes of schema keep an unfinished index build correct", [.s9, .s5],
      needs: [.writable, .droppingModels], changing),
  ]

  private static let count = 400

  private static func schema(_ name: String = "day", _ indexes: [IndexSchema] = []) throws -> ModelSchema {
    try ModelSchema(
      name: "Visit",
      fields: [
        FieldSchema("id", .int64), FieldSchema("place", .string, isOptional: true), FieldSchema(name, .date),
      ], key: ["id"], indexes: [IndexSchema(["id", "place"])] + indexes)
  }

  private static func target() throws -> ModelSchema {
    try schema("day", [IndexSchema(["day"]), IndexSchema(["place", "day"])])
  }

  private static func row(_ id: Int) -> [PersistentValue] {
    [
      .integer(Int64(id)), id % 50 == 49 ? .null : .text("p\(id * 7919 % 1000)"),
      .date(Double(id * 31 % 100)),
    ]
  }

  /// A change that lets indexes wait, whose fields keep their positions.
  private static func change(_ stored: ModelSchema, _ target: ModelSchema) throws -> SchemaChange {
    var change = try SchemaChange(from: stored, to: target, sources: stored.fields.indices.map { .field($0) })
    change.defersIndexes = true
    return change
  }

  private static func evolved(_ context: ContextUnderTest) throws -> (
    store: StoreUnderTest, storage: any StorageContext, rows: [[PersistentValue]]
  ) {
    let store = try context.makeStore()
    let storage = try store.open().storage
    let rows = (1...count).map(row)
    try RowStore(storage, schema()).save(rows)
    let change = try change(schema(), target())
    try storage.transaction { try $0.evolve(change) }
    try expect(storage.catalog(), equals: [target()], "the catalog")
    return (store, storage, rows)
  }

  /// Builds a part of the waiting indexes; returns whether none waits any more.
  private static func step(_ storage: any StorageContext, _ schema: ModelSchema) throws -> Bool {
    var isBuilt = false
    try storage.transaction { isBuilt = try $0.buildIndexes(of: schema) }
    try expect(storage.unbuiltIndexes(of: schema).isEmpty, equals: isBuilt, "the waiting indexes")
    return isBuilt
  }

  /// Checks each order and many conditions, and that no plan uses an index that waits.
  private static func check(
    _ reader: any StorageReader, _ rows: [[PersistentValue]], _ schema: ModelSchema, _ place: String
  ) throws {
    let waiting = try reader.unbuiltIndexes(of: schema)
    func fetch(_ request: FetchRequest) throws -> [[PersistentValue]] {
      if case .index(let fields) = try reader.plan(for: request).access {
        try expect(
          !waiting.map(\.fields).contains(fields), "a plan with the waiting index \(fields), \(place)")
      }
      return try RowStore.rows(of: request, from: reader)
    }
    for (position, field) in schema.fields.enumerated() {
      let sorted = rows.sorted { left, right in
        let order = PersistentValue.compare(left[position], right[position])
        return (order != 0 ? order : PersistentValue.compare(left[0], right[0])) < 0
      }
      try expect(
        fetch(FetchRequest(schema, order: [FieldOrder(field.name)])), equals: sorted,
        "by \(field.name), \(place)")
    }
    let day = schema.fields[2].name
    for value in [PersistentValue.date(0), .date(31), .date(62), .date(99.5)] {
      let condition = PredicateNode.comparison(field: day, .equal, value)
      let expected = rows.filter { $0[2] == value }
      try expect(fetch(FetchRequest(schema, where: condition)), equals: expected, "day \(value), \(place)")
      try expect(
        reader.count(FetchRequest(schema, where: condition)) == expected.count, "day \(value), \(place)")
    }
    for value in [PersistentValue.null, .text("p838"), .text("new"), .text("p919")] {
      let condition = PredicateNode.comparison(field: "place", .equal, value)
      try expect(
        fetch(FetchRequest(schema, where: condition)), equals: rows.filter { $0[1] == value },
        "place \(value), \(place)")
    }
  }

  @Sendable private static func unread(_ context: ContextUnderTest) throws {
    let (_, storage, rows) = try evolved(context)
    let schema = try target()
    let waiting = try storage.unbuiltIndexes(of: schema)
    try expect(
      waiting.allSatisfy { schema.indexes.dropFirst().contains($0) }, "the waiting indexes \(waiting)")
    try check(storage, rows, schema, "before the build")
    let before = try storage.snapshot()
    var parts = 1
    while try !step(storage, schema) {
      try check(storage, rows, schema, "after \(parts) parts")
      parts += 1
    }
    try check(storage, rows, schema, "after all of \(parts) parts")
    try check(before, rows, schema, "in an earlier snapshot")
    try expect(step(storage, schema), "a build without waiting indexes")
  }

  @Sendable private static func writing(_ context: ContextUnderTest) throws {
    var (_, storage, rows) = try evolved(context)
    let schema = try target()
    for round in 0..<5 {
      _ = try step(storage, schema)
      // The first and the last record: before and behind the position of the build.
      var written: [[PersistentValue]] = []
      switch round {
      case 0:
        written = [1, 200, count].map { [.integer(Int64($0)), .text("new"), .date(0.5)] }
        for row in written { rows[rows.firstIndex { $0[0] == row[0] } ?? 0] = row }
      case 1:
        written = [row(count + 1)]
        rows += written
      case 2: rows.removeAll { [.integer(2), .integer(Int64(count))].contains($0[0]) }
      case 3:
        written = [row(0)]
        rows = written + rows
      default: rows.removeAll { $0[2] == .date(62) }
      }
      let (saved, expected) = (written, rows)
      try storage.transaction { transaction in
        switch round {
        case 2: for id in [2, count] { _ = try transaction.delete(key(id), in: schema) }
        case 4:
          let gone = PredicateNode.comparison(field: "day", .equal, .date(62))
          _ = try transaction.delete(FetchRequest(schema, where: gone))
        default: try transaction.save(saved, in: schema)
        }
        try check(transaction, expected, schema, "in the transaction of round \(round)")
      }
      try check(storage, expected, schema, "after round \(round)")
    }
    while try !step(storage, schema) {}
    try check(storage, rows, schema, "at the end")
    try storage.transaction { _ = try $0.deleteAll(in: schema) }
    try check(storage, [], schema, "after deleting all records")
  }

  private static func key(_ id: Int) -> RecordKey { RecordKey([.integer(Int64(id))]) }

  @Sendable private static func unique(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    let stored = try schema()
    try RowStore(storage, stored).save((1...60).map(row))
    let colliding = try schema("day", [IndexSchema(["place"]), IndexSchema(["day"], isUnique: true)])
    let twin = [PersistentValue.integer(100), .text("p"), row(1)[2]]
    try storage.transaction { try $0.save([twin], in: stored) }
    try expectError(.uniqueViolation, "records that collide") {
      try storage.transaction { try $0.evolve(change(stored, colliding)) }
    }
    try expect(storage.catalog(), equals: [stored], "the catalog after a collision")
    try storage.transaction { _ = try $0.delete(key(100), in: stored) }
    try storage.transaction { try $0.evolve(change(stored, colliding)) }
    let waiting = try storage.unbuiltIndexes(of: colliding)
    try expect(waiting.allSatisfy { !$0.isUnique }, "the waiting indexes \(waiting)")
    var isBuilt = false
    while !isBuilt {
      try expectError(.uniqueViolation, "a duplicate while an index waits") {
        try storage.transaction { try $0.insert([twin], in: colliding) }
      }
      isBuilt = try step(storage, colliding)
    }
    try expectError(.uniqueViolation, "a duplicate after the build") {
      try storage.transaction { try $0.insert([twin], in: colliding) }
    }
    try check(storage, (1...60).map(row), colliding, "at the end")
  }

  @Sendable private static func reopened(_ context: ContextUnderTest) throws {
    var (store, storage, rows) = try evolved(context)
    let schema = try target()
    var isBuilt = false
    for round in 0..<1000 where !isBuilt {
      isBuilt = try step(storage, schema)
      if round < 3 || isBuilt {
        try storage.close()
        storage = try store.open().storage
        try expect(storage.unbuiltIndexes(of: schema).isEmpty, equals: isBuilt, "after reopening")
      }
      if round < 3 {
        rows[round][1] = .text("new")
        try storage.transaction { try $0.save([rows[round]], in: schema) }
        try check(storage, rows, schema, "after reopening in round \(round)")
      }
    }
    try expect(isBuilt, "an index build that does not end")
    try check(storage, rows, schema, "at the end")
  }

  @Sendable private static func otherContext(_ context: ContextUnderTest) throws {
    var (store, one, rows) = try evolved(context)
    let other = try store.open().storage
    let schema = try target()
    try check(other, rows, schema, "in the other context, before")
    var isBuilt = false
    for round in 0..<1000 where !isBuilt {
      let (builder, writer) = round.isMultiple(of: 2) ? (one, other) : (other, one)
      isBuilt = try step(builder, schema)
      if round < 4 || isBuilt {
        rows[round % 4][1] = .text("new")
        let row = rows[round % 4]
        try writer.transaction { try $0.save([row], in: schema) }
        try check(one, rows, schema, "in one context, round \(round)")
        try check(other, rows, schema, "in the other context, round \(round)")
      }
    }
    try expect(isBuilt, "an index build that does not end")
  }

  @Sendable private static func changing(_ context: ContextUnderTest) throws {
    let (_, storage, rows) = try evolved(context)
    _ = try step(storage, target())
    // A rename of an indexed field, and one more index.
    let renamed = try schema(
      "date", [IndexSchema(["date"]), IndexSchema(["place", "date"]), IndexSchema(["date", "place"])])
    try storage.transaction { try $0.evolve(change(target(), renamed)) }
    try check(storage, rows, renamed, "after a rename")
    _ = try step(storage, renamed)
    try expectThrows(SuiteError()) {
      try storage.transaction { transaction in
        _ = try transaction.buildIndexes(of: renamed)
        throw SuiteError()
      }
    }
    try check(storage, rows, renamed, "after a rollback of a part")
    // Without the first of the waiting indexes.
    let less = try schema("date", [IndexSchema(["place", "date"]), IndexSchema(["date", "place"])])
    try storage.transaction { try $0.evolve(change(renamed, less)) }
    try check(storage, rows, less, "without an index")
    while try !step(storage, less) {}
    try check(storage, rows, less, "at the end")
    // The removed index again: nothing of its unfinished build may be found.
    try storage.transaction { try $0.save([[.integer(1), .null, .date(7)]], in: less) }
    let again = [[PersistentValue.integer(1), .null, .date(7)]] + rows.dropFirst()
    try storage.transaction { try $0.evolve(change(less, renamed)) }
    while try !step(storage, renamed) {}
    try check(storage, again, renamed, "with the removed index again")
  }
}
