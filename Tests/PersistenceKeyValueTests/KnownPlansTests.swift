import PersistenceDriver
import PersistenceKeyValue
import Testing

/// Plans of shapes that are known beside plans that are made anew.
@Suite("Known plans")
struct KnownPlansTests {
  private let schema = Result {
    try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("rating", .string, isOptional: true), FieldSchema("imdb", .int64, isOptional: true),
      ],
      key: ["id"],
      indexes: [
        IndexSchema(["rating"]), IndexSchema(["rating", "title"]), IndexSchema(["imdb"], isUnique: true),
      ])
  }

  /// Conditions with values that change a plan: nil, the same value, a contradiction, no value at all.
  private static let conditions: [PredicateNode] = {
    let texts: [PersistentValue] = [.text("a"), .text("b")]
    let integers: [PersistentValue] = [.integer(1), .integer(2)]
    var conditions: [PredicateNode] = [.constant(true), .constant(false)]
    for comparison in [ComparisonOperator.equal, .notEqual, .less, .greaterOrEqual] {
      for value in integers { conditions.append(.comparison(field: "id", comparison, value)) }
      for value in texts + [.null] { conditions.append(.comparison(field: "rating", comparison, value)) }
      for value in integers + [.null] { conditions.append(.comparison(field: "imdb", comparison, value)) }
    }
    for values in [[], [texts[0]], texts, texts + [.null]] {
      conditions.append(.isIn(field: "rating", values))
    }
    conditions.append(.isIn(field: "imdb", integers))
    conditions.append(.isBetween(field: "id", lower: integers[0], upper: integers[1]))
    conditions.append(.isBetween(field: "id", lower: integers[1], upper: integers[0]))
    conditions.append(.text(field: "title", .hasPrefix, "a", isCaseInsensitive: false))
    conditions.append(.text(field: "title", .contains, "a", isCaseInsensitive: false))
    conditions.append(.not(.comparison(field: "rating", .equal, .text("a"))))
    conditions.append(.any([conditions[6], .comparison(field: "rating", .equal, .text("c"))]))
    return conditions
  }()

  private static let orders: [[FieldOrder]] = [
    [], [FieldOrder("rating")], [FieldOrder("rating", isDescending: true), FieldOrder("title")],
    [FieldOrder("imdb")],
  ]

  @Test(
    "a request gets the plan of its values, whichever requests of its shape came before",
    arguments: [
      AccessNeeds.rows, .count, AccessNeeds(fields: ["rating"], isOrdered: true),
    ])
  func sameAsAnew(needs: AccessNeeds) throws {
    let schema = try schema.get()
    let known = KnownPlans()
    let statistics = FixedStatistics(total: 1_000_000, entries: 10)
    var plans = 0
    for order in Self.orders {
      for first in Self.conditions {
        for second in Self.conditions {
          let request = try FetchRequest(schema, where: .all([first, second]), order: order)
          let planner = AccessPlanner(request, indexes: schema.indexes, needs: needs)
          let anew = try planner.best(statistics)
          let found = try planner.best(statistics, knowing: known).plan
          try #require("\(found)" == "\(anew)", "\(request)")
          plans += 1
        }
      }
    }
    #expect(plans > 5_000 && known.count > 50)
  }

  @Test("the second request of a shape compares no paths")
  func reuse() throws {
    let schema = try schema.get()
    let known = KnownPlans()
    for value in ["a", "b", "c"] {
      let condition = PredicateNode.comparison(field: "rating", .equal, .text(value))
      let planner = AccessPlanner(try FetchRequest(schema, where: condition), indexes: schema.indexes)
      let statistics = FixedStatistics(total: 1_000_000, entries: 10)
      let (plan, isReused) = try planner.best(statistics, knowing: known)
      #expect(isReused == (value != "a"))
      #expect("\(plan)" == "index (rating) [rating == '\(value)']; in order")
      #expect(known.count == 1)
    }
  }

  /// Values of two or three conditions: the same one, ascending ones, descending ones.
  private static let values = [
    ["a", "a", "a"], ["a", "b", "c"], ["c", "b", "a"], ["b", "a", "b"], ["b", "c", "b"],
  ]

  @Test(
    "a plan has its own values, also after one of the same shape with other ones",
    arguments: KnownPlansTests.values)
  func ownValues(values: [String]) throws {
    let schema = try schema.get()
    let known = KnownPlans()
    let statistics = FixedStatistics(total: 1_000_000, entries: 10)
    func expect(_ condition: PredicateNode?, isReused: Bool? = nil) throws {
      for order in [[], [FieldOrder("rating"), FieldOrder("title")]] {
        let request = try FetchRequest(schema, where: condition, order: order)
        let planner = AccessPlanner(request, indexes: schema.indexes)
        let (found, wasReused) = try planner.best(statistics, knowing: known)
        let anew = try planner.best(statistics)
        // Where no row can match, any path finds none.
        let isSame = anew.ranges.isEmpty ? found.ranges.isEmpty : found == anew
        try #require(isSame, "\(request): \(found) instead of \(anew)")
        if let isReused { #expect(wasReused == isReused, "\(request)") }
      }
    }
    func rating(_ comparison: ComparisonOperator, _ value: String) -> PredicateNode {
      .comparison(field: "rating", comparison, .text(value))
    }
    func title(_ comparison: ComparisonOperator, _ value: String) -> PredicateNode {
      .comparison(field: "title", comparison, .text(value))
    }
    for isReused in [false, true] { try expect(nil, isReused: isReused) }
    // The values of the argument come first, and decide what is known.
    for values in [values] + Self.values {
      for first in ComparisonOperator.allCases {
        let one = rating(first, values[0])
        try expect(one)
        try expect(.all([one, .comparison(field: "rating", .equal, .null)]))
        for second in ComparisonOperator.allCases {
          try expect(.all([one, rating(second, values[1])]))
          try expect(.all([one, title(second, values[1])]))
          try expect(.all([title(second, values[1]), one]))
          for third in [ComparisonOperator.equal, .less, .greaterOrEqual] {
            try expect(.all([one, rating(second, values[1]), title(third, values[2])]))
            try expect(.all([one, title(second, values[1]), title(third, values[2])]))
          }
        }
      }
    }
    for value in values { try expect(rating(.equal, value), isReused: true) }
  }

  @Test("a plan has its own comparisons, whichever comparisons came before")
  func ownComparisons() throws {
    let schema = try schema.get()
    let statistics = FixedStatistics(total: 1_000_000, entries: 10)
    let fields: [(String, [PersistentValue])] = [
      ("id", [.integer(1), .integer(2)]), ("rating", [.text("a"), .null]), ("imdb", [.integer(1), .null]),
    ]
    var single: [PredicateNode] = []
    var joined: [PredicateNode] = []
    for comparison in ComparisonOperator.allCases {
      for (field, values) in fields {
        single += values.map { .comparison(field: field, comparison, $0) }
      }
      for other in ComparisonOperator.allCases {
        let title = PredicateNode.comparison(field: "title", other, .text("c"))
        joined.append(.all([.comparison(field: "rating", comparison, .text("b")), title]))
      }
    }
    for needs in [AccessNeeds.rows, .count] {
      for isDescending in [false, true] {
        for conditions in [single, joined] {
          let requests = try conditions.map {
            try FetchRequest(schema, where: $0, order: [FieldOrder("rating", isDescending: isDescending)])
          }
          for first in requests {
            for second in requests {
              let known = KnownPlans()
              let earlier = AccessPlanner(first, indexes: schema.indexes, needs: needs)
              _ = try earlier.best(statistics, knowing: known)
              let planner = AccessPlanner(second, indexes: schema.indexes, needs: needs)
              let found = try planner.best(statistics, knowing: known).plan
              let anew = try planner.best(statistics)
              let isSame = anew.ranges.isEmpty ? found.ranges.isEmpty : found == anew
              try #require(isSame, "\(second) after \(first): \(found) instead of \(anew)")
            }
          }
        }
      }
    }
  }

  @Test("a plan serves the fields, the order, the page and the form of the condition that it was made for")
  func ownRequests() throws {
    let statistics = FixedStatistics(total: 1_000_000, entries: 10)
    let rating = PredicateNode.comparison(field: "rating", .equal, .text("a"))
    let title = PredicateNode.comparison(field: "title", .greater, .text("b"))
    let conditions: [PredicateNode?] = [
      nil, rating, .all([rating]), .all([rating, title]), .all([title, rating]),
      .comparison(field: "rating", .equal, .null), .any([rating]),
      .comparison(field: "id", .equal, .integer(1)),
    ]
    let needs = [
      AccessNeeds.rows, .count, AccessNeeds(fields: ["rating"], isOrdered: true),
      AccessNeeds(fields: ["title"], isOrdered: true),
    ]
    // An equal schema has another identity.
    let (one, other) = (try schema.get(), try KnownPlansTests().schema.get())
    var asked: [(request: FetchRequest, planner: AccessPlanner)] = []
    for condition in conditions {
      for needs in needs {
        for order in Self.orders {
          let request = try FetchRequest(one, where: condition, order: order)
          asked.append((request, AccessPlanner(request, indexes: one.indexes, needs: needs)))
        }
        let anchor = PageAnchor([.integer(7)])
        let page = try FetchRequest(one, where: condition, limit: 3, offset: 1, after: anchor)
        asked.append((page, AccessPlanner(page, indexes: one.indexes, needs: needs)))
      }
      let request = try FetchRequest(other, where: condition)
      asked.append((request, AccessPlanner(request, indexes: other.indexes, needs: .rows)))
    }
    let anew = try asked.map { try $0.planner.best(statistics) }
    for (earlier, earlierPlanner) in asked {
      let known = KnownPlans()
      // The second call finds the outline, which serves first from then on.
      for _ in 0..<2 { _ = try earlierPlanner.best(statistics, knowing: known) }
      for (position, (request, planner)) in asked.enumerated() {
        let found = try planner.best(statistics, knowing: known).plan
        let expected = anew[position]
        let isSame = expected.ranges.isEmpty ? found.ranges.isEmpty : found == expected
        try #require(isSame, "\(request) after \(earlier): \(found) instead of \(expected)")
      }
    }
  }
}
