import Foundation
import PersistenceCore

/// Compares the matches of a store with those of plain closures.
func expect<Model: PersistentRecord & ExactText>(
  _ conditions: [Condition<Model>], over models: [Model], in repository: any PersistentRepository,
  file: StaticString = #fileID, line: UInt = #line
) throws {
  let sorted = models.sorted { $0.recordKey < $1.recordKey }
  for condition in conditions {
    let expected = sorted.filter(condition.holds).map { "\($0.recordKey)" }
    let found = try repository.filter(Model.self, where: condition.predicate).result().map {
      "\($0.recordKey)"
    }
    if found != expected,
      let odd = sorted.first(where: {
        expected.contains("\($0.recordKey)") != found.contains("\($0.recordKey)")
      })
    {
      let isExpected = condition.holds(odd)
      throw ConformanceFailure(
        "\(condition), of the record \(Shown.text(odd.exactText))",
        expected: isExpected ? "found" : "not found",
        found: isExpected ? "not found" : "found", file: file, line: line)
    }
    try expect(found, equals: expected, "\(condition): the order", file: file, line: line)
    let count = try repository.filter(Model.self, where: condition.predicate).count()
    let others = try repository.filter(Model.self, where: !condition.predicate).count()
    try expect(count, equals: expected.count, "count(\(condition))", file: file, line: line)
    try expect(
      count + others, equals: models.count, "count(p) + count(!p) of \(condition)", file: file, line: line)
  }
}

/// V6: comparisons, checked with closures that share no code with the evaluator.
enum ConditionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every comparison, kind and nil: the results match the oracle, and count(p) + count(!p) =="
        + " count(all)", [.v3, .v4, .v6]
    ) { context in for type in SampledTypes.all { try comparisons(context, type) } },
    ConformanceCheck(
      "between is false for nil, includes its bounds, and is correct at extreme values", [.v6], between),
    ConformanceCheck(
      "wide and deeply nested filters give the same results as simple ones", [.v6], wideAndDeep),
    ConformanceCheck(
      "a raw row with nil matches the negation of every ordering comparison", [.v6], nilInNegations),
  ]

  @Sendable private static func wideAndDeep(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (1...8).map { Account($0, balance: -$0) })
    for (depth, width) in [(12, 99), (12, 300), (8, 490), (3, 1_300), (40, 30), (1, 2_500)] {
      for isFirst in [true, false] {
        var node = PredicateNode.comparison(field: "id", .less, .integer(4))
        for level in 0..<depth {
          // The other members decide nothing: all of one group are true, and none of the next.
          let isAll = level % 2 == 0
          let others = (0..<width).map { number in
            PredicateNode.comparison(
              field: "balance", isAll ? .notEqual : .equal, .integer(Int64(level * width + number)))
          }
          let members = isFirst ? [node] + others : others + [node]
          node = isAll ? .all(members) : .any(members)
        }
        let what = "\(depth) groups of \(width), each \(isFirst ? "first" : "last") in the next"
        let query = repository.filter(Account.self, where: PersistentPredicate(node: node))
        try expect(query.ids(), equals: [1, 2, 3], what)
        try expect(query.sorted(by: \.balance).limit(2).ids(), equals: [3, 2], what)
        let others = repository.filter(Account.self, where: PersistentPredicate(node: .not(node)))
        try expect(others.count(), equals: 5, what)
      }
    }
  }

  private static func comparisons<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws
  {
    typealias Model = Sample<Value>
    let models = Model.all(seed: 10)
    let repository = try context.makeRepository(with: models)
    var random = SeededGenerator(seed: 11)
    var conditions: [Condition<Model>] = []
    for value in Value.samples.shuffled(using: &random).prefix(7) {
      conditions += Condition.comparisons(\Model.value, value)
      conditions += Condition.comparisons(optional: \Model.maybe, value)
    }
    conditions += Condition.nilComparisons(\Model.maybe)
    conditions += Condition.comparisons(\Model.value, with: \Model.other)
    conditions += Condition.comparisons(\Model.maybe, with: \Model.perhaps)
    let some = Array(Value.samples.shuffled(using: &random).prefix(3))
    conditions += [
      .in(\Model.value, some), .in(\Model.value, []), !.in(\Model.value, []),
      .in(\Model.maybe, some.map(Optional.some)), .in(\Model.maybe, [nil] + some.map(Optional.some)),
      .in(\Model.maybe, []), .in(\Model.maybe, [nil]), !.in(\Model.maybe, [nil, some[0]]),
    ]
    try expect(conditions, over: models, in: repository)
  }

  @Sendable private static func between(_ context: ContextUnderTest) throws {
    func check<Value: SampledValue & Comparable>(_ ranges: [ClosedRange<Value>]) throws {
      typealias Model = Sample<Value>
      let models = Model.all(seed: 12)
      let repository = try context.makeRepository(with: models)
      @Sendable func lies(_ value: Value, _ range: ClosedRange<Value>) -> Bool {
        Value.oracle(range.lowerBound, value) <= 0 && Value.oracle(value, range.upperBound) <= 0
      }
      var conditions: [Condition<Model>] = []
      for range in ranges {
        conditions.append(Condition(.between(\Model.value, range)) { lies($0.value, range) })
        conditions.append(
          Condition(.between(\Model.maybe, range)) { $0.maybe.map { lies($0, range) } ?? false })
      }
      try expect(conditions + conditions.map { !$0 }, over: models, in: repository)
    }
    try check([Int64.min...Int64.max, 0...0, 1 << 53...(1 << 53) + 1])
    try check([-Double.infinity...(.infinity), -0.0...0.0, 0.1...1])
    try check([""..."a", "e"..."\u{E9}", "a\0"..."ab"])
    try check([Date.distantPast...Date.distantFuture])
    try check([Decimal(-10)...Decimal(10)])
    try check([UInt8.min...UInt8.max, 1...1])
  }

  @Sendable private static func nilInNegations(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Person("nobody"))
    let orderings: [PersistentPredicate<Person>] = [
      \.age > 5, \.age < 5, \.age >= 5, \.age <= 5, .between(\.age, 0...9), .in(\.age, [1]),
      .contains(\.email, ""), .hasPrefix(\.email, ""), .hasSuffix(\.email, ""), .like(\.email, "%"),
      .matches(\.email, ""), \.age < \.age, \.age <= \.age, \.age >= \.seat, \.age == 5, \.height > .nan,
    ]
    for ordering in orderings {
      try expect(repository.filter(Person.self, where: ordering).count(), equals: 0, "\(ordering)")
      try expect(repository.filter(Person.self, where: !ordering).count(), equals: 1, "\(ordering)")
      try expect(repository.filter(Person.self, where: !(!ordering)).count(), equals: 0, "\(ordering)")
    }
    try expect(repository.filter(Person.self, where: \.age == \.seat && \.age == .none).count(), equals: 1)
  }
}
