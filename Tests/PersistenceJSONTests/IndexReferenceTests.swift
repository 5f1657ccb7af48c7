import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceJSON
import Testing

/// Random queries on random books, most of them indexed, compared with a reference.
struct IndexReferenceTests {
  private static func predicate(_ random: inout SeededGenerator, depth: Int = 0) -> PredicateNode {
    func year() -> PersistentValue { .integer(Int64.random(in: 1895...2005, using: &random)) }
    let comparison =
      [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].randomElement(using: &random)
      ?? ComparisonOperator.equal
    switch Int.random(in: 0..<(depth < 3 ? 12 : 8), using: &random) {
    case 0: return Books.genre(Books.genres.randomElement(using: &random) ?? "")
    case 1: return .comparison(field: "year", comparison, year())
    case 2: return .comparison(field: "year", comparison == .equal ? .equal : .notEqual, .null)
    case 3:
      let id = PersistentValue.integer(Int64.random(in: 0..<300, using: &random))
      guard Bool.random(using: &random) else { return .comparison(field: "id", comparison, id) }
      return .isIn(field: "id", [id, .integer(3), .integer(77)])
    case 4:
      return .comparison(field: "price", comparison, .double(Double(Int.random(in: 0..<20, using: &random))))
    case 5: return .isIn(field: "genre", [.text("crime"), .text("essay"), .text("none")])
    case 6:
      return .text(
        field: ["title", "number", "genre"].randomElement(using: &random) ?? "title", .contains,
        ["1", "a", "T", ""].randomElement(using: &random) ?? "",
        isCaseInsensitive: Bool.random(using: &random))
    case 7: return .isBetween(field: "year", lower: year(), upper: year())
    case 8, 9: return .all((0..<3).map { _ in predicate(&random, depth: depth + 1) })
    case 10: return .any((0..<2).map { _ in predicate(&random, depth: depth + 1) })
    default: return .not(predicate(&random, depth: depth + 1))
    }
  }

  private static func request(_ random: inout SeededGenerator) throws -> FetchRequest {
    let fields = ["id", "title", "genre", "year", "price", "number"]
    let order = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      FieldOrder(fields.randomElement(using: &random) ?? "id", isDescending: Bool.random(using: &random))
    }
    let rows = try FetchRequest(
      Books.schema, where: Int.random(in: 0..<6, using: &random) == 0 ? nil : predicate(&random),
      order: order, limit: Bool.random(using: &random) ? Int.random(in: 0..<20, using: &random) : nil,
      offset: Bool.random(using: &random) ? Int.random(in: 0..<10, using: &random) : 0)
    guard Int.random(in: 0..<3, using: &random) == 0 else { return rows }
    let row = Books.row(Int64.random(in: 0..<250, using: &random))
    let values = rows.totalOrder.map { row[Books.schema.position(of: $0.field) ?? 0] }
    return try FetchRequest(
      Books.schema, where: rows.predicate, order: rows.order, limit: rows.limit, offset: rows.offset,
      after: PageAnchor(values))
  }

  private static func differences(
    _ reader: any StorageReader, _ reference: any StorageReader, _ random: inout SeededGenerator
  ) throws {
    let request = try request(&random)
    let expected = try reference.rows(request)
    #expect(try reader.rows(request) == expected, "\(request)")
    #expect(try reader.count(request) == expected.count, "\(request)")
    let positions = [[0], [4, 2], [3], [1, 2], []].randomElement(using: &random) ?? []
    #expect(
      try reader.fetch(request, selecting: positions).rows()
        == expected.map { row in positions.map { row[$0] } }, "\(request)")
    let aggregate = try AggregateRequest(
      request, grouping: Bool.random(using: &random) ? ["genre"] : [],
      aggregates: [.minimum(of: "year"), .maximum(of: "price"), .count, .sum(of: "year")])
    #expect(try reader.aggregate(aggregate) == reference.aggregate(aggregate), "\(aggregate)")
  }

  /// Many in `make soak`.
  private static let seeds: ClosedRange<UInt64> =
    ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"] == nil ? 1...4 : 1...40

  @Test("queries, counts, selections and aggregates agree with the reference", arguments: seeds)
  func agree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let place = try TemporaryStore()
    var context = try place.open()
    let memory = MemoryContext()
    try Books.fill(context, 250)
    try memory.transaction { transaction in
      try transaction.define(Books.schema)
      for id in 0..<250 as Range<Int64> { try transaction.insert(Books.row(id), in: Books.schema) }
    }
    for _ in 0..<12 {
      let snapshots = (try context.snapshot(), try memory.snapshot())
      let changes = (0..<8).map { _ in Int64.random(in: 0..<300, using: &random) }
      for context in [context, memory] as [any StorageContext] {
        try context.transaction { transaction in
          for (number, id) in changes.enumerated() {
            var row = Books.row(id)
            row[2] = .text(Books.genres[number % 5])
            row[3] = .integer(Int64(1_990 + number))
            if number == 7 {
              _ = try transaction.delete(RecordKey([row[0]]), in: Books.schema)
            } else {
              try transaction.save(row, in: Books.schema)
            }
          }
        }
      }
      // At first the index believes nothing that was just written, then all of it.
      for _ in 0..<2 {
        for _ in 0..<15 {
          try Self.differences(context, memory, &random)
          try Self.differences(snapshots.0, snapshots.1, &random)
        }
        Books.settle()
      }
      if Int.random(in: 0..<3, using: &random) == 0 { context = try place.open() }
    }
  }
}
