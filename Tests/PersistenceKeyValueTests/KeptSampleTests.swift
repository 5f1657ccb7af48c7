import PersistenceDriver
import PersistenceDriverSupport
import Testing

@testable import PersistenceKeyValue

/// Samples of records that requests share.
@Suite("Kept samples")
struct KeptSampleTests {
  private static let records = 1_000

  private let schema: ModelSchema
  private let bytes = ArrayByteStore(longestKey: 200)
  private let store = KeyValueStore(location: "array", indexBuilding: .small)

  init() throws {
    schema = try ModelSchema(
      name: "Sale",
      fields: [
        FieldSchema("id", .int64), FieldSchema("day", .int64), FieldSchema("price", .int64, isOptional: true),
        FieldSchema("note", .string),
      ], key: ["id"], indexes: [IndexSchema(["day"]), IndexSchema(["price"])])
    try write(0..<Self.records, note: "note")
  }

  private func write(_ ids: Range<Int>, note: String) throws {
    let transaction = KeyValueTransaction(store, bytes)
    try transaction.define(schema)
    let row = RowBuffer(count: schema.fields.count)
    for id in ids {
      // Every tenth record has the same price.
      let price = id % 10 == 0 ? 7 : id
      row.set([
        .integer(Int64(id)), .integer(Int64(id * 7919 % 1000)), id % 10 == 3 ? .null : .integer(Int64(price)),
        .text(note),
      ])
      try row.withRow { try transaction.save($0, in: schema) }
    }
    try transaction.finish()
    transaction.end(committedAs: bytes.version)
  }

  /// Commits a number of writes, as a transaction of this process does.
  private func commit(_ writes: UInt64) throws {
    store.cache.recordSuccessor(of: bytes.version, writes: writes)
    try [UInt8]("commit".utf8).withUnsafeBytes { try bytes.put($0, $0, in: .indexes) }
  }

  private func wide(_ day: Int64, _ price: Int64) throws -> FetchRequest {
    try FetchRequest(
      schema,
      where: .all([
        .comparison(field: "day", .greater, .integer(day)),
        .comparison(field: "price", .greater, .integer(price)),
      ]), order: [FieldOrder("note")])
  }

  private func steps(_ request: FetchRequest) throws -> Int {
    let before = bytes.steps
    _ = try store.plan(for: request, bytes)
    return bytes.steps - before
  }

  @Test("the second request of a model reads no sample, whichever values it has")
  func reuse() throws {
    let first = try steps(wide(100, 100))
    let second = try steps(wide(200, 300))
    #expect(first >= second + 64)
    #expect(try steps(wide(200, 300).plannedAnew) >= second + 64)
  }

  @Test("a request has the estimates of its own values, rare, frequent and nil")
  func estimates() throws {
    let binding = try #require(try store.binding(schema, bytes))
    let statistics = PathStatistics(binding: binding, reader: bytes, location: "array", cache: store.cache)
    let anew = PathStatistics(binding: binding, reader: bytes, location: "array")
    for value in [PersistentValue.integer(7), .integer(8), .integer(500), .null] {
      for comparison in [ComparisonOperator.equal, .notEqual, .less, .greaterOrEqual] {
        for field in ["price", "day", "id"] {
          guard field == "price" || !value.isNull else { continue }
          let conditions: [PredicateNode] = [
            .comparison(field: field, comparison, value),
            .not(.text(field: "note", .contains, "o", isCaseInsensitive: false)),
          ]
          try #require(try statistics.sample(conditions) == anew.sample(conditions), "\(conditions)")
        }
      }
    }
    #expect(try statistics.sample([.comparison(field: "price", .equal, .integer(7))]).matches[0] != 0)
  }

  @Test("writes of a tenth of the records, other processes' commits and many new records need a new sample")
  func age() throws {
    _ = try steps(wide(100, 100))
    let kept = try steps(wide(100, 100))
    try commit(UInt64(Self.records / 10))
    #expect(try steps(wide(100, 100)) == kept)
    try commit(1)
    #expect(try steps(wide(100, 100)) >= kept + 64)
    #expect(try steps(wide(100, 100)) == kept)
    // A commit that this process does not know.
    try [UInt8]("commit".utf8).withUnsafeBytes { try bytes.put($0, $0, in: .indexes) }
    #expect(try steps(wide(100, 100)) >= kept + 64)
    try write(Self.records..<Self.records + 200, note: "more")
    let more = try steps(wide(100, 100))
    #expect(try steps(wide(100, 100)) + 64 <= more)
  }

  @Test("records that take much memory are not kept")
  func large() throws {
    try write(0..<Self.records, note: String(repeating: "n", count: 2_000))
    let search = PredicateNode.text(field: "note", .contains, "x", isCaseInsensitive: false)
    let request = try FetchRequest(
      schema,
      where: .all([
        .comparison(field: "day", .greater, .integer(100)),
        .comparison(field: "price", .greater, .integer(100)), search,
      ]), order: [FieldOrder("id", isDescending: true)])
    let first = try steps(request)
    #expect(try steps(request) == first)
  }

  @Test("a tally knows the writes between versions of one process, and at most too many")
  func tally() {
    var tally = WriteTally()
    let unknown = tally.mark(of: 5)
    #expect(tally.writes(since: unknown, to: 5) == 0)
    #expect(tally.writes(since: unknown, to: 6) == nil)
    tally.add(3, after: 5)
    tally.add(4, after: 6)
    #expect(tally.writes(since: unknown, to: 7) == 7)
    let (newest, older) = (tally.mark(of: 7), tally.mark(of: 6))
    tally.add(2, after: 7)
    #expect(tally.writes(since: newest, to: 8) == 2)
    #expect(tally.writes(since: older, to: 8) == 9)
    #expect(tally.writes(since: newest, to: 9) == nil)
    // Another process committed version 9.
    tally.add(1, after: 9)
    #expect(tally.writes(since: newest, to: 10) == nil)
    let mark = tally.mark(of: 10)
    tally.add(6, after: 10)
    #expect(tally.writes(since: mark, to: 11) == 6)
  }
}
