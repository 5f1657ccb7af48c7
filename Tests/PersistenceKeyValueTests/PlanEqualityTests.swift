import PersistenceConformance
import Foundation
import PersistenceDriver
import PersistencePlanner
import Testing

@testable import PersistenceKeyValue

/// Every plan of every request gives what the memory context gives, on a store whose keys are so short that many
/// are cut (NoREC, after Rigger and Su 2020).
@Suite("Plans against the plain scan")
struct PlanEqualityTests {
  private static let schema = Result {
    try ModelSchema(
      name: "Item",
      fields: [
        FieldSchema("b", .bool), FieldSchema("s", .string, isOptional: true), FieldSchema("id", .string),
        FieldSchema("n", .int64, isOptional: true), FieldSchema("d", .double),
        FieldSchema("c", .decimal, isOptional: true), FieldSchema("x", .data), FieldSchema("part", .int64),
        FieldSchema("u", .string, isOptional: true),
      ],
      key: ["part", "id"],
      indexes: [
        IndexSchema(["n"]), IndexSchema(["s"]), IndexSchema(["s", "n"]), IndexSchema(["b", "d"]),
        IndexSchema(["c"]), IndexSchema(["id"]), IndexSchema(["n", "part", "s"]), IndexSchema(["x"]),
        IndexSchema(["u"], isUnique: true),
      ])
  }

  /// The store under test and the reference, side by side.
  private final class Pair {
    let schema: ModelSchema
    let bytes: ArrayByteStore
    let store = KeyValueStore(location: "array")
    let memory = MemoryContext()
    var random: RandomValues
    let row: RowBuffer

    init(seed: UInt64, longestKey: Int) throws {
      schema = try PlanEqualityTests.schema.get()
      bytes = ArrayByteStore(longestKey: longestKey)
      random = RandomValues(seed: seed)
      row = RowBuffer(count: schema.fields.count)
    }

    /// Long texts that share what is kept of cut keys, and short ones.
    func text() -> String {
      let long = String(repeating: "long ", count: random.random.pick([0, 0, 5, 13, 20, 30]))
      return long + random.random.pick(["", "a", "a\0", "b", "\u{10FFFF}", random.random.text(0...2)])
    }

    func value(_ field: FieldSchema) -> PersistentValue {
      if field.isOptional, random.random.oneIn(4) { return .null }
      switch field.name {
      case "part": return .integer(Int64(random.random.int(0...1)))
      case "n": return .integer(Int64(random.random.int(0...6)))
      case "d":
        return PersistentValue.double(random.random.pick([0, 1, 2, .nan, -.infinity, .infinity])).normalized
      case "c": return .decimal(random.random.pick([0, 1, -1, 2.5, .nan]))
      case "x":
        return .bytes(
          [UInt8](repeating: 0xFF, count: random.random.pick([0, 1, 70, 100, 140])) + random.bytes())
      case "b": return .bool(random.random.oneIn(2))
      default: return .text(text())
      }
    }

    /// One random change to both, which must say the same about it.
    func change(_ transaction: KeyValueTransaction, _ reference: any StorageTransaction) throws {
      row.set(schema.fields.map(value))
      let kind = random.random.int(0...9)
      let request = try request()
      func apply(_ target: any StorageTransaction) throws -> String {
        switch kind {
        case 0:
          return "\(try target.delete(try row.withRow { try RecordKey(of: $0, in: schema) }, in: schema))"
        case 1: return "\(try row.withRow { try target.update($0, in: schema) })"
        case 2, 3: return "\(try row.withRow { try target.insert($0, in: schema) })"
        case 4 where request.limit != nil: return "\(try target.delete(request))"
        default: return "\(try row.withRow { try target.save($0, in: schema) })"
        }
      }
      func outcome(_ target: any StorageTransaction) throws -> String {
        do { return try apply(target) } catch let error as PersistenceError { return error.code.rawValue }
      }
      let expected = try outcome(reference)
      let found = try outcome(transaction)
      let values = try row.withRow { try $0.values() }
      try #require(found == expected, "\(kind): \(values) or \(request)")
    }

    func condition(_ depth: Int = 0) -> PredicateNode {
      let field = random.random.pick(schema.fields)
      switch random.random.int(0...(depth < 2 ? 11 : 7)) {
      case 0, 1, 2:
        return .comparison(field: field.name, random.random.pick(ComparisonOperator.allCases), value(field))
      case 3: return .isIn(field: field.name, (0..<random.random.int(0...3)).map { _ in value(field) })
      case 4: return .isBetween(field: field.name, lower: value(field), upper: value(field))
      case 5, 6: return .comparison(field: field.name, .equal, value(field))
      case 7:
        let name = random.random.pick(["s", "id", "u"])
        return .text(
          field: name, .hasPrefix, String(text().prefix(70)), isCaseInsensitive: random.random.oneIn(4))
      case 8, 9, 10: return .all((0..<random.random.int(1...3)).map { _ in condition(depth + 1) })
      default:
        return random.random.oneIn(2)
          ? .any((0..<random.random.int(0...3)).map { _ in condition(depth + 1) })
          : .not(condition(depth + 1))
      }
    }

    func request() throws -> FetchRequest {
      let orders: [[FieldOrder]] = schema.model.map { index in
        let isDescending = random.random.oneIn(2)
        return index.map { FieldOrder($0, isDescending: isDescending) }
      }
      var order = random.random.oneIn(3) ? [] : random.random.pick(orders)
      if random.random.oneIn(3), let last = order.indices.last { order[last].isDescending.toggle() }
      if random.random.oneIn(4) { order = Array(order.prefix(1)) }
      let predicate = random.random.oneIn(5) ? nil : condition()
      let limit = random.random.oneIn(3) ? random.random.int(0...20) : nil
      let offset = random.random.oneIn(4) ? random.random.int(0...10) : 0
      let plain = try FetchRequest(schema, where: predicate, order: order, limit: limit, offset: offset)
      guard random.random.oneIn(3) else { return plain }
      let anchor = plain.totalOrder.compactMap { schema.field(named: $0.field) }.map(value)
      return try FetchRequest(
        schema, where: predicate, order: order, limit: limit, offset: offset, after: PageAnchor(anchor))
    }
  }

  private func rows(_ results: any StorageResults, pages: Int) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    while try results.read(from: rows.count, limit: pages, { rows.append(try $0.values()) }) == pages {}
    return rows
  }

  @Test(
    "R2 O2 O4 W4 every plan gives the rows of the plain scan, in the same order",
    arguments: [(11, 128), (12, 160), (13, 511), (14, 128)] as [(UInt64, Int)])
  func equality(seed: UInt64, longestKey: Int) throws {
    let pair = try Pair(seed: seed, longestKey: longestKey)
    for _ in 0..<4 {
      try pair.memory.transaction { reference in
        let transaction = KeyValueTransaction(pair.store, pair.bytes)
        try transaction.define(pair.schema)
        try reference.define(pair.schema)
        for _ in 0..<120 { try pair.change(transaction, reference) }
        try transaction.finish()
        transaction.end(committed: true)
      }
      let binding = try #require(try pair.store.binding(pair.schema, pair.bytes))
      for _ in 0..<150 { try check(try pair.request(), pair, binding) }
    }
    let cut = pair.bytes.nodes(.indexes).filter { $0.key.count == longestKey }
    #expect(longestKey > 200 || cut.count > 20, "the test has lost its point")
  }

  private func check(_ request: FetchRequest, _ pair: Pair, _ binding: ModelBinding) throws {
    let expected = try rows(try pair.memory.fetch(request), pages: 1000)
    let planner = AccessPlanner(request, indexes: binding.model.schema.indexes)
    for plan in planner.all() {
      let query = try PreparedQuery(
        request, binding, plan, longestKey: pair.bytes.longestKey, location: "array")
      let comment: Comment = "\(request): \(plan)"
      #expect(try query.count(pair.bytes) == expected.count, comment)
      let results = try query.results(pair.bytes, pair.bytes)
      let found = try rows(results, pages: pair.random.random.int(1...9))
      try #require(found == expected, comment)
      #expect(try results.count() == expected.count, comment)
      // A jump, now that everything has been walked, and one that nothing has.
      let fresh = try query.results(pair.bytes, pair.bytes)
      for results in [results, fresh] {
        let offset = pair.random.random.int(0...expected.count + 1)
        var jumped: [[PersistentValue]] = []
        _ = try results.read(from: offset, limit: 2) { jumped.append(try $0.values()) }
        #expect(jumped == Array(expected.dropFirst(offset).prefix(2)), comment)
      }
    }
    #expect(try pair.store.count(request, pair.bytes) == expected.count)
    #expect(try rows(try pair.store.results(request, pair.bytes), pages: 50) == expected)
  }
}

extension ModelSchema {
  /// The fields of every index and of the key: orders worth asking for.
  fileprivate var model: [[String]] { indexes.map(\.fields) + [key, ["d"], ["b", "s"]] }
}
