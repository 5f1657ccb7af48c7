import Foundation
import PersistenceCore

/// W3, W4, O2, C2: deferred indexes, as migrations use them.
enum DeferredIndexChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a model with deferred indexes gives the same results before, during and after the build", [.w3, .o2],
      building),
    ConformanceCheck("records written during an index build are in the finished indexes", [.w3], writing),
    ConformanceCheck(
      "building a deferred unique index rejects duplicate values and then builds nothing", [.w4], unique),
    ConformanceCheck(
      "building a deferred unique index compares values, however long and different the keys are", [.w4],
      longKeys),
    ConformanceCheck(
      "a second context can continue an index build, and both contexts read correctly", [.c2],
      needs: [.writable, .multiProcess], otherContext),
  ]

  private static func schema() throws -> ModelSchema {
    try ModelSchema(
      name: "Thing",
      fields: [
        FieldSchema("id", .int64), FieldSchema("field", .string, isOptional: true), FieldSchema("day", .date),
      ], key: ["id"], indexes: [IndexSchema(["day"]), IndexSchema(["field"], isUnique: true)])
  }

  private static func row(_ number: Int, _ field: String? = nil) -> [PersistentValue] {
    let text = field ?? "f\(number * 7919 % 1000)"
    return [
      .integer(Int64(number)), number % 50 == 49 ? .null : .text(text), .date(Double(number * 31 % 100)),
    ]
  }

  private static func define(
    _ schema: ModelSchema, _ rows: [[PersistentValue]], in storage: any StorageContext
  ) throws {
    try storage.transaction { transaction in
      try transaction.defineDeferringIndexes(schema)
      try transaction.save(rows, in: schema)
    }
  }

  /// Checks that every order and many filters return the rows, whatever the state of the indexes.
  private static func check(
    _ reader: any StorageReader, _ rows: [[PersistentValue]], _ schema: ModelSchema, _ place: String
  ) throws {
    for field in ["id", "field", "day"] {
      let position = schema.position(of: field) ?? 0
      let sorted = rows.sorted { left, right in
        let order = PersistentValue.compare(left[position], right[position])
        return (order != 0 ? order : PersistentValue.compare(left[0], right[0])) < 0
      }
      let request = try FetchRequest(schema, order: [FieldOrder(field)])
      try expect(RowStore.rows(of: request, from: reader), equals: sorted, "by \(field), \(place)")
    }
    for day in [0.0, 31, 62, 99.5] {
      let condition = PredicateNode.comparison(field: "day", .equal, .date(day))
      let expected = rows.count { $0[2] == .date(day) }
      try expect(reader.count(FetchRequest(schema, where: condition)) == expected, "day \(day), \(place)")
    }
    for text in ["f0", "f7919", "f919", "new 3"] {
      let condition = PredicateNode.comparison(field: "field", .equal, .text(text))
      let expected = rows.filter { $0[1] == .text(text) }
      try expect(
        RowStore.rows(of: FetchRequest(schema, where: condition), from: reader), equals: expected,
        "field \(text), \(place)")
    }
  }

  private static func step(_ storage: any StorageContext, _ schema: ModelSchema) throws -> Bool {
    var isBuilt = false
    try storage.transaction { isBuilt = try $0.buildIndexes(of: schema) }
    return isBuilt
  }

  @Sendable private static func building(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var storage = try store.open().storage
    let schema = try schema()
    let rows = (0..<900).map { row($0) }
    try storage.transaction { transaction in
      try transaction.defineDeferringIndexes(schema)
      try transaction.save(Array(rows[..<450].reversed()), in: schema)
      try check(transaction, Array(rows[..<450]), schema, "in the transaction")
    }
    try expect(storage.catalog(), equals: [schema], "the catalog")
    try storage.transaction { try $0.save(Array(rows[450...]), in: schema) }
    try check(storage, rows, schema, "before")
    let before = try storage.snapshot()
    var parts = 1
    while try !step(storage, schema) {
      parts += 1
      try check(storage, rows, schema, "after \(parts) parts")
    }
    try check(storage, rows, schema, "after all of \(parts) parts")
    try check(before, rows, schema, "in an earlier snapshot")
    try expect(step(storage, schema), "already built indexes")
    if storage.capabilities.isDurable {
      try storage.close()
      storage = try store.open().storage
      try check(storage, rows, schema, "after reopening")
    }
    // The indexes follow changes and reject duplicates.
    try storage.transaction { try $0.save([row(3, "new 3")], in: schema) }
    var changed = rows
    changed[3] = row(3, "new 3")
    try check(storage, changed, schema, "after a change")
    try expectError(.uniqueViolation, "a duplicate value") {
      try storage.transaction { try $0.save([row(4, "new 3")], in: schema) }
    }
    try check(storage, changed, schema, "after a rejected change")
  }

  @Sendable private static func writing(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    let schema = try schema()
    var rows = (0..<600).map { row($0) }
    try define(schema, rows, in: storage)
    for round in 0..<4 {
      _ = try step(storage, schema)
      switch round {
      case 0: rows[3] = row(3, "new 3")
      case 1: rows.append(row(600))
      case 2: rows.removeFirst()
      default: rows.removeAll { $0[2] == .date(62) }
      }
      try storage.transaction { transaction in
        switch round {
        case 0: try transaction.save([rows[3]], in: schema)
        case 1: try transaction.save([row(600)], in: schema)
        case 2: _ = try transaction.delete(RecordKey([.integer(0)]), in: schema)
        default:
          let gone = PredicateNode.comparison(field: "day", .equal, .date(62))
          _ = try transaction.delete(FetchRequest(schema, where: gone))
        }
        try check(transaction, rows, schema, "in the transaction of round \(round)")
      }
      try check(storage, rows, schema, "after round \(round)")
    }
    while try !step(storage, schema) {}
    try check(storage, rows, schema, "at the end")
    try storage.transaction { _ = try $0.deleteAll(in: schema) }
    try check(storage, [], schema, "after deleting all records")
  }

  @Sendable private static func unique(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    let schema = try schema()
    let rows = (0..<300).map { row($0) }
    try define(schema, rows, in: storage)
    // An engine that builds indexes at once rejects the record itself.
    let error = try expectError(.uniqueViolation, "two records with the same value") {
      try storage.transaction { try $0.save([row(300, "f0")], in: schema) }
      while try !step(storage, schema) {}
    }
    try expect(error.model == "Thing", "\(error)")
    let named = [RecordKey([.integer(0)]), RecordKey([.integer(300)])]
    try expect(error.key.map(named.contains) == true, "the record in the error: \(error)")
    // Without the duplicate, the build succeeds.
    try storage.transaction { _ = try $0.delete(RecordKey([.integer(300)]), in: schema) }
    while try !step(storage, schema) {}
    try check(storage, rows, schema, "at the end")
  }

  @Sendable private static func longKeys(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    let schema = try ModelSchema(
      name: "Scroll", fields: [FieldSchema("title", .string), FieldSchema("number", .int64)], key: ["title"],
      indexes: [IndexSchema(["number"], isUnique: true)])
    let length = min(storage.capabilities.largestKey ?? 900, 900)
    func scroll(_ letter: String, _ number: Int64) -> [PersistentValue] {
      [.text(String(repeating: letter, count: length)), .integer(number)]
    }
    // Records with other values lie between the two in the order of keys.
    let rows = [scroll("a", 1), scroll("b", 2), scroll("c", 3)]
    try define(schema, rows, in: storage)
    // An engine that builds indexes at once rejects the record itself.
    try expectError(.uniqueViolation, "two records with long keys and the same value") {
      try storage.transaction { try $0.save([scroll("d", 1)], in: schema) }
      while try !step(storage, schema) {}
    }
    try storage.transaction { _ = try $0.delete(RecordKey([scroll("d", 1)[0]]), in: schema) }
    while try !step(storage, schema) {}
    try expect(RowStore.rows(of: FetchRequest(schema), from: storage), equals: rows, "the records")
    try expectError(.uniqueViolation, "a record with a taken value") {
      try storage.transaction { try $0.save([scroll("e", 2)], in: schema) }
    }
  }

  @Sendable private static func otherContext(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let (one, other) = (try store.open().storage, try store.open().storage)
    let schema = try schema()
    var rows = (0..<600).map { row($0) }
    try define(schema, rows, in: one)
    try check(other, rows, schema, "before")
    var isBuilt = false
    for round in 0..<100 where !isBuilt {
      isBuilt = try step(round.isMultiple(of: 2) ? one : other, schema)
      try check(one, rows, schema, "in the first context, round \(round)")
      try check(other, rows, schema, "in the second context, round \(round)")
    }
    while try !step(one, schema) {}
    // Uses the context that opened the model before its indexes were built.
    rows[3] = row(3, "new 3")
    try other.transaction { try $0.save([rows[3]], in: schema) }
    try check(one, rows, schema, "in the first context, at the end")
    try check(other, rows, schema, "in the second context, at the end")
  }
}
