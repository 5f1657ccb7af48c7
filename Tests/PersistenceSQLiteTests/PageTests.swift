import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import TestSupport
import Testing

/// Pages, plans and snapshots, and their costs.
@Suite struct PageTests {
  let scratch: Scratch
  let context: SQLiteContext
  let schema: ModelSchema
  let rows: [[PersistentValue]]

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    schema = try Fixtures.movies()
    rows = (0..<5_000).map(Self.row)
    try context.fill(schema, rows)
  }

  private static func row(_ number: Int) -> [PersistentValue] {
    let genre: PersistentValue = number % 7 == 0 ? .null : .text("genre \(number % 5)")
    let rating: PersistentValue = .double(number % 11 == 0 ? .nan : Double(number % 13))
    return [
      .integer(Int64(number)), .text("title \(number % 1_000)"), genre, .integer(Int64(number * 37 % 1_001)),
      rating,
    ]
  }

  private func ids(_ results: any StorageResults, from offset: Int, limit: Int) throws -> [Int64] {
    var ids: [Int64] = []
    _ = try results.read(from: offset, limit: limit) { ids.append($0[0].integerValue) }
    return ids
  }

  private func request(
    _ predicate: PredicateNode? = nil, _ order: [FieldOrder] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> FetchRequest {
    try FetchRequest(schema, where: predicate, order: order, limit: limit, offset: offset)
  }

  @Test("O2 keys and indexes yield their order in both directions, and other orders need a sort")
  func plans() throws {
    func plan(_ predicate: PredicateNode? = nil, _ order: [FieldOrder] = []) throws -> QueryPlan {
      try context.plan(for: request(predicate, order))
    }
    #expect(try plan().ordering == .byAccess)
    #expect(try plan(nil, [FieldOrder("id", isDescending: true)]).ordering == .byAccess)
    #expect(try plan(nil, [FieldOrder("title")]).access == .index(["title"]))
    #expect(try plan(nil, [FieldOrder("title")]).ordering == .byAccess)
    #expect(try plan(nil, [FieldOrder("title", isDescending: true)]).ordering == .byAccess)
    #expect(try plan(nil, [FieldOrder("budget")]).ordering == .byEngine)
    let genre = PredicateNode.comparison(field: "genre", .equal, .text("genre 1"))
    #expect(try plan(genre, [FieldOrder("budget")]).access == .index(["genre", "budget"]))
    #expect(try plan(genre, [FieldOrder("budget")]).ordering == .byAccess)
    #expect(try plan(.comparison(field: "id", .less, .integer(5))).access == .primaryKey)
    #expect(try plan(.comparison(field: "rating", .less, .double(5))).access == .scan)
    let prefix = PredicateNode.text(field: "title", .hasPrefix, "title 9", isCaseInsensitive: false)
    #expect(try plan(prefix, [FieldOrder("title")]).access == .index(["title"]))
    // A negated comparison on an optional field still uses its index.
    let negated = PredicateNode.not(.comparison(field: "genre", .notEqual, .text("genre 1")))
    #expect(try plan(negated).access == .index(["genre", "budget"]))
    #expect(try plan(.isIn(field: "title", [.text("title 5")])).access == .index(["title"]))
  }

  @Test("a repeated statement generates no SQL text and is not prepared again")
  func prepares() throws {
    func work(_ number: Int) throws {
      _ = try context.values(of: .integer(Int64(number)), in: schema)
      let predicate = PredicateNode.all([
        .comparison(field: "genre", .equal, .text("genre \(number % 5)")),
        .isIn(field: "title", (0...number).map { .text("title \($0)") }),
      ])
      let results = try context.fetch(request(predicate, [FieldOrder("title")]))
      _ = try ids(results, from: 0, limit: 10)
      _ = try context.count(request(.comparison(field: "budget", .less, .integer(Int64(number)))))
      let all = try context.fetch(request())
      var position = 0
      while position < 5_000 { position += try ids(all, from: position, limit: 128).count }
      try context.transaction { transaction in
        try transaction.define(schema)
        try transaction.save(rows[number], in: schema)
        _ = try transaction.delete(RecordKey([.integer(-1)]), in: schema)
      }
    }
    try work(1)
    try work(2)
    let prepared = context.counters.prepares
    let texts = context.counters.textsBuilt
    for number in 3..<20 { try work(number) }
    #expect(context.counters.prepares == prepared)
    #expect(context.counters.textsBuilt == texts)
    // Another statement is prepared.
    _ = try context.count(request(.comparison(field: "rating", .less, .double(1))))
    #expect(context.counters.prepares > prepared)
  }

  static let orders: [[FieldOrder]] = [
    [], [FieldOrder("id", isDescending: true)], [FieldOrder("title")],
    [FieldOrder("title", isDescending: true)],
    [FieldOrder("genre"), FieldOrder("budget")],
    [FieldOrder("genre", isDescending: true), FieldOrder("budget", isDescending: true)],
    [FieldOrder("rating")], [FieldOrder("budget", isDescending: true)],
    [FieldOrder("genre"), FieldOrder("title", isDescending: true)],
  ]

  @Test("R3 paging forwards, jumping and paging back show the same rows as a single read", arguments: orders)
  func pages(_ order: [FieldOrder]) throws {
    let reference = MemoryContext()
    try reference.fill(schema, rows)
    for (limit, offset) in [(nil, 0), (3_000, 700), (nil, 4_900), (nil, 6_000)] as [(Int?, Int)] {
      let request = try request(
        .comparison(field: "budget", .greater, .integer(99)), order, limit: limit, offset: offset)
      let expected = try ids(reference.fetch(request), from: 0, limit: .max)
      #expect(try ids(context.fetch(request), from: 0, limit: .max) == expected)
      let results = try context.fetch(request)
      var forwards: [Int64] = []
      while true {
        let page = try ids(results, from: forwards.count, limit: 97)
        forwards += page
        if page.count < 97 { break }
      }
      #expect(forwards == expected)
      #expect(try results.count() == expected.count)
      let jumping = try context.fetch(request)
      var random = SeededGenerator(seed: 12)
      for _ in 0..<20 {
        let start = Int.random(in: 0...(expected.count + 10), using: &random)
        #expect(try ids(jumping, from: start, limit: 40) == Array(expected.dropFirst(start).prefix(40)))
      }
      #expect(try jumping.count() == expected.count)
    }
  }

  @Test("R3 large results that SQLite sorts, and small ones that are buffered, have the same order")
  func sizes() throws {
    let reference = MemoryContext()
    let long = String(repeating: "long ", count: 200)
    let larger = (5_000..<9_000).map { number -> [PersistentValue] in
      var row = Self.row(number)
      row[1] = .text("\(number % 300) \(long)")
      return row
    }
    try reference.fill(schema, rows + larger)
    try context.fill(schema, larger)
    let orders = [
      [FieldOrder("rating"), FieldOrder("title", isDescending: true)],
      [FieldOrder("budget", isDescending: true)],
      [FieldOrder("genre", isDescending: true), FieldOrder("title")],
    ]
    for order in orders {
      for greatest in [40, 4_999, 9_999] as [Int64] {
        let request = try request(.comparison(field: "id", .less, .integer(greatest)), order, offset: 3)
        let expected = try ids(reference.fetch(request), from: 0, limit: .max)
        let results = try context.fetch(request)
        var found: [Int64] = []
        while true {
          let page = try ids(results, from: found.count, limit: 128)
          found += page
          if page.count < 128 { break }
        }
        #expect(found == expected)
        #expect(try results.count() == expected.count)
        #expect(try ids(results, from: 20, limit: 10) == Array(expected.dropFirst(20).prefix(10)))
      }
    }
  }

  @Test("R2 a result does not see later writes, in its first page and beyond")
  func snapshots() throws {
    let results = try context.fetch(request(nil, [FieldOrder("title")]))
    let sorted = try context.fetch(request(nil, [FieldOrder("rating")]))
    let snapshot = try context.snapshot()
    let before = try ids(results, from: 0, limit: .max)
    let beforeSorted = try ids(context.fetch(request(nil, [FieldOrder("rating")])), from: 0, limit: .max)
    try context.transaction { transaction in
      _ = try transaction.delete(request(.comparison(field: "budget", .less, .integer(500))))
      try transaction.insert(
        [.integer(9_999), .text("a"), .null, .integer(1), .double(0)], in: schema)
    }
    try context.execute("UPDATE Movie SET title = 'changed'")
    #expect(try ids(results, from: 0, limit: .max) == before)
    #expect(try ids(sorted, from: 0, limit: .max) == beforeSorted)
    #expect(try ids(sorted, from: 2_000, limit: 10) == Array(beforeSorted[2_000..<2_010]))
    #expect(try results.count() == 5_000)
    #expect(try snapshot.count(request()) == 5_000)
    #expect(try snapshot.values(of: .integer(9_999), in: schema) == nil)
    #expect(try context.count(request()) < 5_000)
    #expect(try context.values(of: .integer(9_999), in: schema)?[1] == .text("changed"))
  }

  @Test("R2 hundreds of results of one state share a few connections, and return them")
  func sharing() throws {
    let context = try scratch.open { $0.poolSize = 4 }
    let first = context.counters.connectionsOpened
    var alive: [any StorageResults] = []
    for _ in 0..<300 { alive.append(try context.fetch(request(nil, [FieldOrder("title")]))) }
    for results in alive { #expect(try ids(results, from: 1_000, limit: 1).count == 1) }
    #expect(context.counters.connectionsOpened - first <= 5)
    // Another state needs another connection; the old results stay.
    try context.execute("DELETE FROM Movie WHERE id = 0")
    let newer = try context.fetch(request())
    #expect(try newer.count() == 4_999)
    #expect(try alive[299].count() == 5_000)
    #expect(context.counters.connectionsOpened - first <= 6)
    alive.removeAll()
    let opened = context.counters.connectionsOpened
    for _ in 0..<50 { _ = try context.fetch(request()) }
    #expect(context.counters.connectionsOpened == opened)
  }

  @Test("R2 a shared connection keeps its state until the last result on it is released")
  func lastOfShared() throws {
    let context = try scratch.open { $0.poolSize = 1 }
    let first = try context.fetch(request())
    var shared: [any StorageResults] = []
    for _ in 0..<2 { shared.append(try context.fetch(request())) }
    let opened = context.counters.connectionsOpened
    shared.removeFirst()
    shared.append(try context.fetch(request()))
    #expect(context.counters.connectionsOpened == opened)
    try context.execute("DELETE FROM Movie WHERE id = 0")
    shared.removeFirst()
    let newer = try context.fetch(request())
    #expect(try newer.count() == 4_999)
    #expect(try shared[0].count() == 5_000)
    #expect(try first.count() == 5_000)
  }

  @Test("C1 several threads read one result at once")
  func threads() async throws {
    let expected = try ids(context.fetch(request(nil, [FieldOrder("title")])), from: 0, limit: .max)
    let shared = try context.fetch(request(nil, [FieldOrder("title")]))
    let (context, schema) = (context, schema)
    try await withThrowingTaskGroup(of: [Int64].self) { group in
      for number in 0..<8 {
        group.addTask {
          if number % 2 == 0 {
            try context.transaction { transaction in
              try transaction.save(
                [.integer(Int64(10_000 + number)), .text("new"), .null, .integer(0), .null], in: schema)
            }
          }
          var found: [Int64] = []
          while true {
            let read = try shared.read(from: found.count, limit: 128) { found.append($0[0].integerValue) }
            if read < 128 { return found }
          }
        }
      }
      for try await found in group { #expect(found == expected) }
    }
    #expect(try context.count(request()) == 5_004)
  }

  @Test("R3 the results of a closed context stay readable, and the context rejects everything else")
  func closing() throws {
    let results = try context.fetch(request())
    try context.close()
    try context.close()
    #expect(try ids(results, from: 4_000, limit: 1) == [4_000])
    #expect(code { _ = try context.fetch(request()) } == .closed)
    #expect(code { _ = try context.count(request()) } == .closed)
    #expect(code { _ = try context.values(of: .integer(1), in: schema) } == .closed)
    #expect(code { try context.transaction { _ in } } == .closed)
    #expect(code { _ = try context.catalog() } == .closed)
  }

  @Test("conditions with long lists, thousands of terms and deep trees work")
  func longPredicates() throws {
    let list = PredicateNode.isIn(field: "id", (0..<40_000).map { .integer($0 * 2) })
    #expect(try context.count(request(list)) == 2_500)
    #expect(try context.count(request(.not(list))) == 2_500)
    let terms = PredicateNode.any((0..<1_500).map { .comparison(field: "id", .equal, .integer($0)) })
    #expect(try context.count(request(terms)) == 1_500)
    #expect(try context.count(request(.not(terms))) == 3_500)
    let many = PredicateNode.any((0..<9_000).map { .comparison(field: "id", .equal, .integer($0)) })
    #expect(try context.count(request(many)) == 5_000)
    var deep = PredicateNode.comparison(field: "id", .less, .integer(10))
    for level in 0..<450 {
      let leaf = PredicateNode.comparison(field: "id", .notEqual, .integer(Int64(level + 100)))
      deep = level % 2 == 0 ? .all([leaf, deep]) : .any([.not(leaf), deep])
    }
    let compiled = try CompiledPredicate(deep, in: schema)
    let buffer = RowBuffer(count: schema.fields.count)
    let expected = try rows.filter { row in
      buffer.set(row)
      return try buffer.withRow { try compiled.matches($0) }
    }
    #expect(try context.count(request(deep)) == expected.count)
    #expect(try context.count(request(.not(deep))) == 5_000 - expected.count)
    try context.transaction { transaction in
      let count = try transaction.delete(request(.not(terms)))
      #expect(count == 3_500)
    }
  }
}
