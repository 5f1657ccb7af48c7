import PersistenceDriver
import PersistenceKeyValue
import Testing

@Suite("The planner")
struct AccessPlannerTests {
  private let schema = Result {
    try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("rating", .string, isOptional: true),
        FieldSchema("budget", .double), FieldSchema("imdb", .string, isOptional: true),
        FieldSchema("year", .int32),
      ],
      key: ["id"],
      indexes: [
        IndexSchema(["rating"]), IndexSchema(["title"]), IndexSchema(["rating", "budget"]),
        IndexSchema(["imdb"], isUnique: true),
      ])
  }

  private func plan(
    _ predicate: PredicateNode?, _ order: [FieldOrder] = [], after: [PersistentValue]? = nil,
    entries: Int = 10, needs: AccessNeeds = .rows, matches: [UInt64]? = nil
  ) throws -> String {
    let schema = try schema.get()
    let request = try FetchRequest(
      schema, where: predicate, order: order, after: after.map { PageAnchor($0) })
    let planner = AccessPlanner(request, indexes: schema.indexes, needs: needs)
    let sample = matches.map { PlanSample(size: 64, matches: $0) }
    return "\(try planner.best(FixedStatistics(total: 1_000_000, entries: entries, sample: sample)))"
  }

  private func equal(_ field: String, _ value: PersistentValue) -> PredicateNode {
    .comparison(field: field, .equal, value)
  }

  @Test("a request without conditions scans in key order")
  func scan() throws {
    #expect(try plan(nil) == "scan; in order")
    #expect(try plan(nil, [FieldOrder("id", isDescending: true)]) == "scan backwards; in order")
    #expect(try plan(equal("year", .integer(1999))) == "scan; in order; residual year == 1999")
  }

  @Test("the primary key serves lookups, ranges and lists")
  func primaryKey() throws {
    #expect(try plan(equal("id", .integer(7))) == "key (id) [id == 7]; in order")
    #expect(
      try plan(.isIn(field: "id", [.integer(9), .integer(7), .integer(9)]))
        == "key (id) [id == 7 | id == 9]; in order")
    #expect(
      try plan(
        .all([
          .comparison(field: "id", .greater, .integer(5)),
          .comparison(field: "id", .lessOrEqual, .integer(9)),
        ]))
        == "key (id) [id > 5, id <= 9]; in order")
    #expect(
      try plan(.all([equal("id", .integer(7)), equal("rating", .text("PG"))]))
        == "key (id) [id == 7]; in order; residual rating == 'PG'")
  }

  @Test("an index serves equality, and then orders by the key")
  func equality() throws {
    #expect(try plan(equal("rating", .text("PG"))) == "index (rating) [rating == 'PG']; in order")
    #expect(try plan(equal("rating", .null)) == "index (rating) [rating == nil]; in order")
    #expect(
      try plan(equal("rating", .text("PG")), [FieldOrder("id", isDescending: true)])
        == "index (rating) [rating == 'PG'] backwards; in order")
    #expect(try plan(equal("imdb", .text("tt1"))) == "index (imdb) [imdb == 'tt1']; in order")
  }

  @Test("a compound index serves an equal prefix, a range after it, and the order of its remaining fields")
  func compound() throws {
    let both = PredicateNode.all([
      equal("rating", .text("PG")), .comparison(field: "budget", .greaterOrEqual, .double(1e7)),
    ])
    #expect(
      try plan(both, [FieldOrder("budget")])
        == "index (rating, budget) [rating == 'PG', budget >= 10000000.0]; in order")
    #expect(
      try plan(equal("rating", .text("PG")), [FieldOrder("budget", isDescending: true)])
        == "index (rating, budget) [rating == 'PG'] backwards; in order")
    #expect(
      try plan(both, [FieldOrder("title")])
        == "index (rating, budget) [rating == 'PG', budget >= 10000000.0]; sorted")
  }

  @Test("a range excludes nil if the condition does (V6)")
  func nilRanges() throws {
    #expect(
      try plan(.comparison(field: "rating", .less, .text("PG")))
        == "index (rating) [rating > nil, rating < 'PG']; sorted")
    #expect(
      try plan(.comparison(field: "rating", .notEqual, .null), [FieldOrder("rating")])
        == "index (rating) [rating > nil]; in order")
    #expect(try plan(.comparison(field: "rating", .less, .null)) == "nothing")
    #expect(try plan(.isIn(field: "rating", [])) == "nothing")
    #expect(
      try plan(.isIn(field: "rating", [.null, .text("R")]))
        == "index (rating) [rating == nil | rating == 'R']; sorted")
  }

  @Test("a prefix search is a range; other text searches are not (V7)")
  func prefixes() throws {
    #expect(
      try plan(.text(field: "title", .hasPrefix, "The ", isCaseInsensitive: false), [FieldOrder("title")])
        == "index (title) [title begins with 'The ']; in order")
    #expect(
      try plan(.text(field: "title", .hasPrefix, "The ", isCaseInsensitive: true))
        == "scan; in order; residual hasPrefix(title, 'The ', caseInsensitive)")
    #expect(
      try plan(.text(field: "title", .contains, "x", isCaseInsensitive: false), [FieldOrder("title")])
        == "index (title); in order; residual contains(title, 'x')")
  }

  @Test("contradictory bounds match nothing")
  func contradictions() throws {
    #expect(
      try plan(
        .all([
          .comparison(field: "budget", .greater, .double(2)), .comparison(field: "budget", .less, .double(2)),
          equal("rating", .text("PG")),
        ])) == "nothing")
    #expect(try plan(.all([equal("rating", .text("PG")), equal("rating", .text("R"))])) == "nothing")
    #expect(try plan(.constant(false)) == "nothing")
  }

  @Test("a wide range is not sorted if the key has the order (R1)")
  func estimates() throws {
    let range = PredicateNode.comparison(field: "rating", .greater, .text("A"))
    #expect(try plan(range, entries: 100) == "index (rating) [rating > 'A']; sorted")
    #expect(try plan(range, entries: 1_000_000) == "scan; in order; residual rating > 'A'")
    #expect(
      try plan(range, [FieldOrder("year")], entries: 1_000_000) == "scan; sorted; residual rating > 'A'")
  }

  @Test("O4 a cursor begins after the anchor")
  func anchors() throws {
    #expect(
      try plan(nil, [FieldOrder("title")], after: [.text("M"), .integer(4)])
        == "index (title) after ('M', 4); in order")
    #expect(
      try plan(equal("rating", .text("PG")), [FieldOrder("budget")], after: [.double(5), .integer(4)])
        == "index (rating, budget) [rating == 'PG'] after ('PG', 5.0, 4); in order")
    #expect(
      try plan(nil, [FieldOrder("year")], after: [.integer(1999), .integer(4)])
        == "scan; sorted; residual ((year > 1999) || (year == 1999 && id > 4))")
  }

  @Test("an anchor that contradicts the predicate is evaluated on each row")
  func contradictingAnchor() throws {
    let text = try plan(
      equal("rating", .text("PG")), [FieldOrder("rating")], after: [.text("R"), .integer(4)])
    #expect(
      text
        == "index (rating) [rating == 'PG']; in order; residual (rating == 'PG' && ((rating > 'R') || (rating == 'R' && id > 4)))"
    )
  }

  @Test("two indexes that are selective only together are intersected")
  func intersections() throws {
    let both = PredicateNode.all([
      .comparison(field: "rating", .greater, .text("A")), .comparison(field: "title", .greater, .text("B")),
    ])
    let order = [FieldOrder("year")]
    #expect(
      try plan(both, order, entries: 30_000, matches: [0b0011, 0b1100])
        == "index (rating) [rating > 'A'] and index (title) [title > 'B']; sorted")
    // Both conditions match the same records: the second index would not help.
    #expect(
      try plan(both, order, entries: 30_000, matches: [0b11, 0b11])
        == "index (rating) [rating > 'A']; sorted; residual title > 'B'")
  }

  @Test("a covering index is read instead of the records")
  func indexOnly() throws {
    let needs = AccessNeeds(fields: ["budget", "rating"], isOrdered: false)
    #expect(try plan(nil, needs: needs) == "index (rating, budget); sorted")
    let cheap = PredicateNode.comparison(field: "budget", .less, .double(5))
    #expect(
      try plan(cheap, entries: 900_000, needs: needs)
        == "index (rating, budget); sorted; residual budget < 5.0")
    #expect(try plan(nil, needs: .count) == "scan; in order")
    #expect(
      try plan(cheap, entries: 900_000, needs: AccessNeeds(fields: ["year"], isOrdered: false))
        == "scan; in order; residual budget < 5.0")
  }

  @Test("key prefixes group rows, after components with constant values")
  func groups() throws {
    let schema = try schema.get()
    func grouped(_ predicate: PredicateNode?, _ fields: [String]) throws -> String? {
      let planner = AccessPlanner(try FetchRequest(schema, where: predicate), indexes: schema.indexes)
      return planner.grouped(by: fields).map { "\($0.plan); \($0.components)" }
    }
    #expect(try grouped(nil, ["rating"]) == "index (rating); sorted; 1")
    #expect(try grouped(nil, ["budget", "rating"]) == "index (rating, budget); sorted; 2")
    #expect(
      try grouped(equal("rating", .text("PG")), ["budget"])
        == "index (rating, budget) [rating == 'PG']; sorted; 2")
    #expect(try grouped(nil, ["budget"]) == nil)
    #expect(try grouped(equal("year", .integer(1999)), ["rating"]) == nil)
  }

  @Test("a query plan contains no values")
  func shapes() throws {
    let schema = try schema.get()
    let predicate = PredicateNode.all([
      .isIn(field: "rating", [.text("PG"), .text("R")]), .comparison(field: "budget", .less, .double(5)),
      equal("year", .integer(1999)),
    ])
    let request = try FetchRequest(
      schema, where: predicate, order: [FieldOrder("title")], limit: 10, offset: 5)
    let plan = try AccessPlanner(request, indexes: schema.indexes)
      .best(FixedStatistics(total: 1_000_000, entries: 10))
    #expect(
      "\(plan.queryPlan(for: request, isIndexOnly: false))"
        == "index (rating, budget) where rating == ?, budget > nil, budget < ? in 2 ranges; "
        + "native: (rating in [?, ?] && budget < ?); residual: year == ?; "
        + "sort keys sorted in memory, at most 15 kept")
  }
}
