import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// The number of files that queries on indexed fields open.
struct IndexTests {
  private static let count: Int64 = 2_000
  private let place: TemporaryStore
  private let context: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try Books.fill(context, Self.count)
    // Reads every file once, and writes the index.
    _ = try context.ids(ofGenre: "none")
  }

  private func request(
    _ predicate: PredicateNode? = nil, order: [FieldOrder] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> FetchRequest {
    try FetchRequest(Books.schema, where: predicate, order: order, limit: limit, offset: offset)
  }

  @Test("a query by an indexed field opens only matching files, in a new process too")
  func reads() throws {
    let wanted = Books.ids(below: Self.count) { id in id % 5 == 3 && id % 100 < 10 && id % 7 != 0 }
    let query = try request(
      .all([Books.genre("satire"), .comparison(field: "year", .less, .integer(1910))]))
    for context in [context, try place.open(), try place.openForReading()] {
      var found: [Int64] = []
      let openings = try context.openings { found = try context.ids(query) }
      #expect(found == wanted)
      #expect(openings == wanted.count)
    }
  }

  @Test("conditions on other fields filter the files that the index leaves")
  func residual() throws {
    let query = try request(
      .all([
        .text(field: "title", .hasSuffix, "7", isCaseInsensitive: false), Books.genre("essay"),
        .not(.comparison(field: "price", .less, .double(5))),
      ]))
    let candidates = Books.ids(below: Self.count) { id in id % 5 == 2 && id % 40 >= 10 }
    let wanted = candidates.filter { id in id % 10 == 7 }
    var found: [Int64] = []
    let openings = try context.openings { found = try context.ids(query) }
    // Each candidate is looked at once, and each row read again for its page.
    #expect(found == wanted)
    #expect(openings == candidates.count + wanted.count)
  }

  @Test("counts, aggregates, selections and keys of indexed fields open no file")
  func covered() throws {
    let openings = try context.openings {
      #expect(try context.count(request(Books.genre("drama"))) == 400)
      #expect(try context.fetch(request(Books.genre("drama"), limit: 3)).count() == 3)
      let least = try AggregateRequest(
        request(Books.genre("drama")), aggregates: [.minimum(of: "year"), .maximum(of: "price"), .count])
      #expect(
        try context.aggregate(least).map(\.values) == [[.integer(1901), .double(18), .integer(400)]])
      let groups = try AggregateRequest(request(), grouping: ["genre"], aggregates: [.count])
      #expect(try context.aggregate(groups).map(\.values) == Array(repeating: [.integer(400)], count: 5))
      let prices = try context.fetch(
        request(Books.genre("drama"), order: [FieldOrder("price", isDescending: true)], limit: 2),
        selecting: [4, 0])
      #expect(try prices.rows() == [[.double(18), .integer(1996)], [.double(18), .integer(1956)]])
      let keys = try context.fetch(
        request(.comparison(field: "id", .less, .integer(2))), selecting: [0])
      #expect(try keys.rows() == [[.integer(0)], [.integer(1)]])
    }
    #expect(openings == 0)
  }

  @Test("a query sorted by an indexed field opens only the files of the page", arguments: [0, 5])
  func sorted(offset: Int) throws {
    let query = try request(order: [FieldOrder("year", isDescending: true)], limit: 10, offset: offset)
    let dated = Books.ids(below: Self.count) { id in id % 7 != 0 }
    let all = dated.sorted { left, right in (left % 100, left) > (right % 100, right) }
    var found: [Int64] = []
    let openings = try context.openings { found = try context.ids(query) }
    #expect(found == Array(all.dropFirst(offset).prefix(10)))
    #expect(openings == 10)

    let lazy = try context.openings {
      let results = try context.fetch(request(order: [FieldOrder("price")]))
      #expect(try results.read(from: 0, limit: 3) { _ in } == 3)
      #expect(try results.count() == 2_000)
    }
    #expect(lazy == 3)
  }

  @Test("conditions on the key open only the files of their keys")
  func keys() throws {
    var found: [Int64] = []
    let openings = try context.openings {
      found = try context.ids(
        request(.isBetween(field: "id", lower: .integer(1_990), upper: .integer(9_000))))
    }
    #expect(found == Array(1_990..<2_000) && openings == 10)

    let listed = try request(
      .all([
        .isIn(field: "id", [.integer(9), .integer(-1), .integer(7), .integer(9), .integer(2_500)]),
        .comparison(field: "id", .less, .integer(9)),
      ]))
    let few = try context.openings { found = try context.ids(listed) }
    #expect(found == [7] && few == 1)
    let snapshot = try context.snapshot()
    let seven = try request(.comparison(field: "id", .equal, .integer(7)))
    try context.transaction { transaction in
      _ = try transaction.delete(RecordKey([.integer(7)]), in: Books.schema)
      #expect(try transaction.count(seven) == 0)
    }
    #expect(try context.rows(seven) == [] && snapshot.rows(seven) == [Books.row(7)])
    let added = try request(.comparison(field: "id", .equal, .integer(2_500)))
    try context.transaction { transaction in
      try transaction.insert(Books.row(2_500), in: Books.schema)
      #expect(try transaction.count(added) == 1)
    }
    #expect(try context.rows(added) == [Books.row(2_500)] && snapshot.rows(added) == [])
  }

  @Test("checking a unique value opens no indexed file, in a new process too")
  func unique() throws {
    let context = try place.open()
    let openings = try context.openings {
      try context.transaction { try $0.insert(Books.row(2_000), in: Books.schema) }
      var row = Books.row(2_001)
      row[5] = .text("n17")
      let error = #expect(throws: PersistenceError.self) {
        try context.transaction { try $0.insert(row, in: Books.schema) }
      }
      #expect(error?.code == .uniqueViolation && error?.message.contains("Book/17.json") == true)
    }
    // The new one is read by the second transaction.
    #expect(openings <= 1)
  }

  @Test("the plan has the index, the native conditions and the residual")
  func plan() throws {
    let title = PredicateNode.comparison(field: "title", .equal, .text("x"))
    let price = PredicateNode.comparison(field: "price", .greater, .double(3))
    #expect(
      try context.plan(for: request(.all([Books.genre("drama"), title])))
        == QueryPlan(
          access: .index(["genre", "year"]), native: "genre == ?", residual: "title == ?",
          ordering: .byAccess))
    #expect(
      try context.plan(for: request(price, order: [FieldOrder("title")]))
        == QueryPlan(access: .index(["price"]), native: "price > ?", ordering: .sorted))
    #expect(
      try context.plan(for: request(order: [FieldOrder("number")])).access == .index(["number"]))
    #expect(
      try context.plan(for: request(.comparison(field: "id", .equal, .integer(1))))
        == QueryPlan(access: .primaryKey, native: "id == ?", ordering: .byAccess))
    #expect(
      try context.plan(for: request(title, order: [FieldOrder("title")]))
        == QueryPlan(access: .scan, residual: "title == ?", ordering: .sorted))
  }

  @Test("R2 a snapshot's queries ignore later commits and index entries")
  func snapshots() throws {
    let snapshot = try context.snapshot()
    let held = try context.fetch(request(Books.genre("drama")))
    var changed = Books.row(1)
    changed[2] = .text("crime")
    try context.transaction { transaction in
      try transaction.save(changed, in: Books.schema)
      _ = try transaction.delete(RecordKey([.integer(6)]), in: Books.schema)
      try transaction.save(Books.row(2_001), in: Books.schema)
    }
    Books.settle()
    let old = Books.ids(below: Self.count) { id in id % 5 == 1 }
    let new = old.filter { $0 > 6 } + [2_001]
    for _ in 0..<2 {
      #expect(try context.ids(ofGenre: "drama") == new)
      #expect(try snapshot.rows(request(Books.genre("drama"))) == old.map(Books.row))
      #expect(try snapshot.count(request(Books.genre("crime"))) == 400)
      #expect(try context.count(request(Books.genre("crime"))) == 401)
    }
    #expect(try held.rows() == old.map(Books.row))
    let sorted = try request(Books.genre("drama"), order: [FieldOrder("year")], limit: 1, offset: 57)
    #expect(try snapshot.rows(sorted) == [Books.row(1)])
    #expect(try context.rows(sorted) != [Books.row(1)])
  }

  @Test("R1a a transaction's queries find its own writes, with and without the index")
  func transactions() throws {
    var changed = Books.row(1)
    changed[2] = .text("crime")
    try context.transaction { transaction in
      try transaction.save(changed, in: Books.schema)
      _ = try transaction.delete(RecordKey([.integer(0)]), in: Books.schema)
      #expect(try transaction.count(request(Books.genre("drama"))) == 399)
      #expect(try transaction.count(request(Books.genre("crime"))) == 400)
      #expect(try transaction.delete(request(Books.genre("crime"))) == 400)
    }
    #expect(try context.count(request(Books.genre("crime"))) == 0)
    #expect(try context.count(request()) == 1_599)
  }
}
