import PersistenceCore

/// A model whose schema changes again and again: fields and the model are renamed, added, computed and erased.
///
/// Three of four changes concern only the catalog; each fourth one computes a field and erases others.
enum Succession {
  private static let count = 40

  /// The numbers of the counters in the n-th version, the newest first.
  private static func counters(_ number: Int) -> [Int] { (max(0, number / 4 * 4 - 1)...number).reversed() }

  private static func value(_ number: Int, _ id: Int) -> PersistentValue {
    .integer(Int64(number.isMultiple(of: 4) ? number * 100 + id : number))
  }

  static func schema(_ number: Int) throws -> ModelSchema {
    try ModelSchema(
      name: "Growing \(number / 5)",
      fields: [FieldSchema("id", .int64), FieldSchema("name \(number / 2)", .string)]
        + counters(number).map { FieldSchema("of \($0)", .int64) },
      key: ["id"],
      indexes: [IndexSchema(["name \(number / 2)"])]
        + (number.isMultiple(of: 3) ? [IndexSchema(["of \(number)"])] : []))
  }

  static func rows(_ number: Int) -> [[PersistentValue]] {
    (0..<count).map { id in
      [.integer(Int64(id)), .text("t\(id % 7)")] + counters(number).map { value($0, id) }
    }
  }

  /// The change to the n-th version.
  private static func change(_ number: Int) throws -> SchemaChange {
    let earlier = counters(number - 1)
    let new: SchemaChange.Source =
      number.isMultiple(of: 4) ? .computed : .fill(value(number, 0))
    let sources = counters(number).map { counter in
      earlier.firstIndex(of: counter).map { SchemaChange.Source.field($0 + 2) } ?? new
    }
    let compute: SchemaChange.Compute = { row, computed in
      guard case .integer(let id) = try row.value(at: 0) else { throw SuiteError() }
      computed.set(value(number, Int(id)), at: 0)
    }
    var change = try SchemaChange(
      from: schema(number - 1), to: schema(number), sources: [.field(0), .field(1)] + sources,
      compute: new == .computed ? compute : nil)
    change.defersIndexes = true
    return change
  }

  /// Makes the n-th version, the first one with its records.
  static func apply(_ number: Int, to storage: any StorageContext) throws {
    let change = number == 0 ? nil : try change(number)
    try storage.transaction { transaction in
      if let change { return try transaction.evolve(change) }
      try transaction.define(schema(0))
      try transaction.insert(rows(0), in: schema(0))
    }
    // Some indexes are built, others are removed while they wait.
    guard number.isMultiple(of: 6) else { return }
    var isBuilt = false
    while !isBuilt { try storage.transaction { isBuilt = try $0.buildIndexes(of: schema(number)) } }
  }

  /// Returns the number of the complete version in a store.
  static func read(_ storage: any StorageContext) throws -> Int {
    let snapshot = try storage.snapshot()
    let schema = try require(snapshot.catalog().first { $0.name.hasPrefix("Growing ") })
    let counter = try require(schema.fields.first { $0.name.hasPrefix("of ") })
    let number = try require(Int(counter.name.dropFirst(3)))
    try expect(snapshot.catalog(), equals: [Self.schema(number)], "the schema of version \(number)")
    let rows = try RowStore.rows(of: FetchRequest(schema), from: snapshot)
    try expect(rows, equals: Self.rows(number), "the rows of version \(number)")
    let named = PredicateNode.comparison(field: schema.fields[1].name, .equal, .text("t3"))
    let found = try RowStore.rows(of: FetchRequest(schema, where: named), from: snapshot)
    try expect(found, equals: rows.filter { $0[1] == .text("t3") }, "a name of version \(number)")
    let counted = try RowStore.rows(
      of: FetchRequest(schema, order: [FieldOrder(counter.name, isDescending: true)]), from: snapshot)
    let sorted = rows.sorted { left, right in
      let order = PersistentValue.compare(left[2], right[2])
      return (order != 0 ? order : PersistentValue.compare(left[0], right[0])) > 0
    }
    try expect(counted, equals: sorted, "the order by a counter of version \(number)")
    return number
  }
}
