import Foundation
import PersistenceDriver
import PersistenceSQLite
import Testing

/// A request that differs from an earlier one only in values generates no SQL text and prepares no statement.
@Suite struct PrepareTests {
  /// One kind of request; a number determines its values.
  enum Work: String, CaseIterable, Sendable {
    case find, fetchAll, fetchByPredicates, fetchSorted, fetchByIndex, fetchPages, fetchAfter, fetchSelected
    case selectedSorted, count, countOfPage, exists, aggregates, sums, groups, groupsOfPage, distinct
    case insert, update, save, delete, deleteAll, updateWhere, updatePage, deleteWhere, deletePage, snapshot
  }

  let scratch: Scratch
  let context: SQLiteContext
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    schema = try Fixtures.movies()
    try context.fill(schema, (0..<1_000).map(Self.row))
  }

  private static func row(_ number: Int) -> [PersistentValue] {
    [
      .integer(Int64(number)), .text("title \(number % 300)"), .text("genre \(number % 5)"),
      .integer(Int64(number * 37 % 101)), .double(Double(number % 13)),
    ]
  }

  @Test(
    "the second request prepares no statement and generates no SQL text", arguments: Work.allCases)
  func prepares(_ work: Work) throws {
    // The first request matches most rows, so that the others need no more pages.
    try run(work, 6)
    let (prepared, texts) = (context.counters.prepares, context.counters.textsBuilt)
    for number in 2..<6 { try run(work, number) }
    #expect(context.counters.prepares == prepared)
    #expect(context.counters.textsBuilt == texts)
    #expect(prepared > 0)
  }

  @Test("a request that is planned anew takes no cached statement, keeps none and yields the same rows")
  func plannedAnew() throws {
    let cheap = PredicateNode.comparison(field: "budget", .less, .integer(60))
    for order in [[], [FieldOrder("title")], [FieldOrder("rating", isDescending: true)]] {
      let page = try request(cheap, order, limit: 10)
      let rows = try context.values(page)
      let (prepared, texts) = (context.counters.prepares, context.counters.textsBuilt)
      #expect(try context.values(page.plannedAnew) == rows)
      #expect(context.counters.prepares > prepared)
      #expect(context.counters.textsBuilt == texts)
      let after = context.counters.prepares
      #expect(try context.values(page) == rows)
      #expect(context.counters.prepares == after)
    }
  }

  /// Values of one condition, of which each may need a statement of its own.
  private static let values: [[PredicateNode]] = [
    [.null, .double(.nan), .double(-.infinity), .double(3), .double(-0.0)].map {
      .comparison(field: "rating", .greaterOrEqual, $0)
    },
    [.null, .double(.nan), .double(3)].map { .not(.comparison(field: "rating", .equal, $0)) },
    [[], [.integer(1)], [.integer(3), .integer(1)], (0..<300).map { .integer($0) }].map {
      .isIn(field: "budget", $0)
    },
    ["", "title 1", "title 1%", "t_tle", "\u{10FFFF}", "TITLE 1"].map {
      .text(field: "title", .hasPrefix, $0, isCaseInsensitive: false)
    },
    ["", "title 1", "title 1%", "t_tle", "TITLE 1"].map {
      .text(field: "title", .contains, $0, isCaseInsensitive: true)
    },
    [(1, 5), (5, 1), (3, 3)].map {
      .isBetween(field: "budget", lower: .integer($0.0), upper: .integer($0.1))
    },
  ]

  @Test("a request yields the rows of its own values, whichever values its shape had before")
  func valuesOfOneShape() throws {
    for conditions in Self.values {
      for first in conditions {
        for second in conditions {
          _ = try? context.values(request(first, [FieldOrder("title")], limit: 50))
          let page = try? request(second, [FieldOrder("title")], limit: 50)
          guard let page else { continue }
          try #require(try context.values(page) == context.values(page.plannedAnew), "\(first), \(second)")
        }
      }
    }
  }

  private func request(
    _ predicate: PredicateNode? = nil, _ order: [FieldOrder] = [], limit: Int? = nil, offset: Int = 0,
    after: PageAnchor? = nil
  ) throws -> FetchRequest {
    try FetchRequest(schema, where: predicate, order: order, limit: limit, offset: offset, after: after)
  }

  private func read(_ results: any StorageResults, page: Int = 128) throws -> Int {
    var count = 0
    while true {
      let read = try results.read(from: count, limit: page) { _ in }
      count += read
      if read < page { return count }
    }
  }

  private func run(_ work: Work, _ number: Int) throws {
    let cheap = PredicateNode.comparison(field: "budget", .less, .integer(Int64(number * 10)))
    let listed = PredicateNode.all([
      .comparison(field: "genre", .equal, .text("genre \(number % 5)")),
      .isIn(field: "title", (0...number).map { .text("title \($0)") }),
      .not(.text(field: "title", .contains, "\(number)", isCaseInsensitive: true)),
    ])
    let rating = [FieldOrder("rating", isDescending: true)]
    switch work {
    case .find: #expect(try context.values(of: .integer(Int64(number)), in: schema) != nil)
    case .fetchAll: #expect(try read(context.fetch(request())) == 1_000)
    case .fetchByPredicates: _ = try read(context.fetch(request(listed)))
    case .fetchSorted: #expect(try read(context.fetch(request(cheap, rating))) > 0)
    case .fetchByIndex: #expect(try read(context.fetch(request(nil, [FieldOrder("title")]))) == 1_000)
    case .fetchPages:
      let page = try request(cheap, rating, limit: 10 + number, offset: number)
      #expect(try read(context.fetch(page)) > 0)
    case .fetchAfter:
      let anchor = PageAnchor([.text("title \(number)"), .integer(Int64(number))])
      let page = try request(nil, [FieldOrder("title")], limit: 20, after: anchor)
      #expect(try read(context.fetch(page)) == 20)
    case .fetchSelected: #expect(try read(context.fetch(request(cheap), selecting: [1, 3])) > 0)
    case .selectedSorted: #expect(try read(context.fetch(request(cheap, rating), selecting: [1])) > 0)
    case .count: #expect(try context.count(request(cheap)) > 0)
    case .countOfPage: #expect(try context.count(request(cheap, limit: number)) == number)
    case .exists: #expect(try context.count(request(cheap, limit: 1)) == 1)
    case .aggregates, .sums, .groups, .groupsOfPage, .distinct: try aggregate(work, number, cheap)
    case .snapshot:
      let snapshot = try context.snapshot()
      #expect(try snapshot.count(request(cheap)) > 0)
      #expect(try read(snapshot.fetch(request(cheap, rating))) > 0)
    case .insert, .update, .save, .delete, .deleteAll, .updateWhere, .updatePage, .deleteWhere, .deletePage:
      try write(work, number, cheap)
    }
  }

  private func aggregate(_ work: Work, _ number: Int, _ cheap: PredicateNode) throws {
    let some = try request(cheap)
    let page = try request(cheap, [FieldOrder("rating")], limit: 10 + number, offset: number)
    let request: AggregateRequest =
      switch work {
      case .aggregates:
        try AggregateRequest(
          some, aggregates: [.count, .minimum(of: "title"), .maximum(of: "rating"), .sum(of: "budget")])
      case .sums: try AggregateRequest(some, aggregates: [.sum(of: "rating"), .average(of: "rating")])
      case .groups: try AggregateRequest(some, grouping: ["genre"], aggregates: [.average(of: "budget")])
      case .groupsOfPage: try AggregateRequest(page, grouping: ["genre"], aggregates: [.count])
      default: try AggregateRequest(some, grouping: ["genre"], aggregates: [])
      }
    #expect(try !context.aggregate(request).isEmpty)
  }

  private func write(_ work: Work, _ number: Int, _ cheap: PredicateNode) throws {
    let page = try request(cheap, [FieldOrder("rating")], limit: number, offset: 1)
    let one = try request(.comparison(field: "budget", .equal, .integer(Int64(number))))
    let title = [FieldAssignment("title", .text("changed \(number)"))]
    try context.transaction { transaction in
      try transaction.define(schema)
      var count = 1
      switch work {
      case .insert: try transaction.insert(Self.row(2_000 + number), in: schema)
      case .update: try transaction.update(Self.row(number), in: schema)
      case .save: try transaction.save(Self.row(999 + number), in: schema)
      case .delete: count = try transaction.delete(RecordKey([.integer(Int64(number))]), in: schema) ? 1 : 0
      case .deleteAll: _ = try transaction.deleteAll(in: schema)
      case .updateWhere: count = try transaction.update(UpdateRequest(request(cheap), set: title))
      case .updatePage: count = try transaction.update(UpdateRequest(page, set: title))
      case .deleteWhere: count = try transaction.delete(one)
      default: count = try transaction.delete(page)
      }
      #expect(count > 0)
    }
  }
}
