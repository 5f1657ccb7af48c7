import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

/// Queries for less than whole records read less than the records.
@Suite("Queries without record reads")
struct PushDownTests {
  private static let records = 3000

  /// A store with records `n` in a hundred groups, and a value that is nil for one in ten.
  private func store() throws -> (bytes: ArrayByteStore, store: KeyValueStore, schema: ModelSchema) {
    let schema = try ModelSchema(
      name: "Sale",
      fields: [
        FieldSchema("id", .int64), FieldSchema("group", .string), FieldSchema("day", .int64),
        FieldSchema("price", .double, isOptional: true), FieldSchema("note", .string),
      ],
      key: ["id"], indexes: [IndexSchema(["group", "price"]), IndexSchema(["day"]), IndexSchema(["price"])])
    let bytes = ArrayByteStore(longestKey: 200)
    let store = KeyValueStore(location: "array", indexBuilding: .small)
    let transaction = KeyValueTransaction(store, bytes)
    try transaction.define(schema)
    let row = RowBuffer(count: schema.fields.count)
    for id in 0..<Self.records {
      row.set([
        .integer(Int64(id)), .text("group \(id % 100)"), .integer(Int64(id * 7919 % 1000)),
        id % 10 == 3 ? .null : .double(Double(id)), .text("note \(id)"),
      ])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
    try transaction.finish()
    transaction.end(committedAs: bytes.version)
    return (bytes, store, schema)
  }

  private func steps<Result>(_ bytes: ArrayByteStore, _ body: () throws -> Result) rethrows -> (Result, Int) {
    let before = bytes.steps
    let result = try body()
    return (result, bytes.steps - before)
  }

  @Test("the minimum and the maximum come from the ends of an index")
  func ends() throws {
    let (bytes, store, schema) = try store()
    let request = try AggregateRequest(
      try FetchRequest(schema), aggregates: [.minimum(of: "price"), .maximum(of: "price"), .count])
    let (groups, steps) = try steps(bytes) { try store.aggregate(request, bytes) }
    #expect(groups.map(\.values) == [[.double(0), .double(2999), .integer(3000)]])
    #expect(steps < 8)
    let grouped = try FetchRequest(schema, where: .comparison(field: "group", .equal, .text("group 5")))
    let of = try AggregateRequest(grouped, aggregates: [.maximum(of: "price")])
    let (greatest, few) = try self.steps(bytes) { try store.aggregate(of, bytes) }
    #expect(greatest.map(\.values) == [[.double(2905)]])
    #expect(few < 8)
  }

  @Test("distinct values come from seeks in an index")
  func distinct() throws {
    let (bytes, store, schema) = try store()
    let request = try AggregateRequest(try FetchRequest(schema), grouping: ["group"], aggregates: [])
    let (groups, steps) = try steps(bytes) { try store.aggregate(request, bytes) }
    #expect(groups.count == 100)
    #expect(steps < 100 * 12)
    let counts = try AggregateRequest(try FetchRequest(schema), grouping: ["group"], aggregates: [.count])
    #expect(try store.aggregate(counts, bytes).allSatisfy { $0.values == [.integer(30)] })
  }

  @Test("a covering index answers without reading records, and the plan shows it")
  func indexOnly() throws {
    let (bytes, store, schema) = try store()
    let cheap = try FetchRequest(
      schema,
      where: .all([
        .comparison(field: "group", .equal, .text("group 5")),
        .comparison(field: "price", .less, .double(500)),
      ]), order: [FieldOrder("price", isDescending: true)])
    let fields = [3, 1, 0, 3]
    #expect(
      "\(try store.plan(for: cheap, selecting: fields, bytes))"
        == "index (group, price) where group == ?, price > nil, price < ? backwards; "
        + "from keys alone, without records; native: (group == ? && price < ?); in order")
    #expect(try !store.plan(for: cheap, bytes).isIndexOnly)
    let even = try FetchRequest(
      schema,
      where: .any([.comparison(field: "price", .equal, .null), .comparison(field: "id", .less, .integer(9))]))
    // The test removes the records behind the store's back; no query may read them.
    let prefix = try #require(try store.binding(schema, bytes)).prefix
    try prefix.withUnsafeBytes { try bytes.removeAll(beginningWith: $0, in: .records) }
    var rows: [[PersistentValue]] = []
    _ = try store.results(cheap, selecting: fields, bytes).read(from: 0, limit: 10) {
      rows.append(try $0.values())
    }
    let found = [405, 305, 205, 105, 5].map { id -> [PersistentValue] in
      [.double(Double(id)), .text("group 5"), .integer(Int64(id)), .double(Double(id))]
    }
    #expect(rows == found)
    #expect(try store.count(even, bytes) == 308)
    let sums = try AggregateRequest(cheap, aggregates: [.sum(of: "price"), .average(of: "price")])
    #expect(try store.aggregate(sums, bytes).map(\.values) == [[.double(1025), .double(205)]])
    #expect(throws: PersistenceError.self) {
      _ = try store.results(cheap, bytes).read(from: 0, limit: 10) { _ in }
    }
  }

  @Test("R5 reading entries of an index checks for an interruption at least once for every thousand")
  func interruption() throws {
    let (bytes, store, schema) = try store()
    let days = try FetchRequest(schema, where: .comparison(field: "day", .greaterOrEqual, .integer(0)))
    let reads: [() throws -> Void] =
      [{ _ = try store.count(days, bytes) }]
      + ["group", "day"].map { field in
        {
          let rows = try FetchRequest(schema)
          let request = try AggregateRequest(rows, grouping: [field], aggregates: [.count])
          _ = try store.aggregate(request, bytes)
        }
      }
    for read in reads {
      let interruption = ReadInterruption(
        atCheck: Self.records / 1000, PersistenceError(.timedOut, "the time of this read has passed"))
      let error = #expect(throws: PersistenceError.self) { try interruption.run(read) }
      #expect(error?.code == .timedOut)
    }
  }

  @Test("an estimate takes a bounded number of steps")
  func estimates() throws {
    let (bytes, store, schema) = try store()
    let wide = try FetchRequest(
      schema,
      where: .all([
        .comparison(field: "day", .greater, .integer(100)),
        .comparison(field: "price", .greater, .double(100)),
      ]), order: [FieldOrder("note")])
    let (_, steps) = try steps(bytes) { try store.plan(for: wide, bytes) }
    #expect(steps < 2 * 65 + 192 + 3 * 1024)
    let binding = try #require(try store.binding(schema, bytes))
    let condition = PredicateNode.comparison(field: "day", .less, .integer(500))
    let sample = try PathStatistics(binding: binding, reader: bytes, location: "array").sample([condition])
    #expect(sample.size == 64)
    #expect((0.3...0.7).contains(sample.share([0])))
  }
}
