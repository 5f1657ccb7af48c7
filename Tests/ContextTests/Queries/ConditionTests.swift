import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

/// Compares what a store finds with what plain closures say of the same records.
func expect<Model: PersistentRecord & ExactText>(
  _ conditions: [Condition<Model>], over models: [Model], in repository: any PersistentRepository,
  at sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let sorted = models.sorted { $0.recordKey < $1.recordKey }
  for condition in conditions {
    let expected = sorted.filter(condition.holds).map { "\($0.recordKey)" }
    let found = try repository.filter(Model.self, where: condition.predicate).result().map {
      "\($0.recordKey)"
    }
    #expect(found == expected, "\(condition)", sourceLocation: sourceLocation)
    let count = try repository.filter(Model.self, where: condition.predicate).count()
    let others = try repository.filter(Model.self, where: !condition.predicate).count()
    #expect(
      count == expected.count && count + others == models.count, "\(condition)",
      sourceLocation: sourceLocation)
  }
}

@Suite("V6: comparisons, against closures that share no code with the evaluator")
struct ConditionTests {
  @Test(
    "V3 V4 V6 every comparison × every kind × nil, and count(p) + count(!p) == count(all)",
    arguments: ContextUnderTest.all, SampledKind.all)
  func comparisons(context: ContextUnderTest, kind: SampledKind) throws {
    func check<Value: Sampled & OracleValue & ExactText>(_ type: Value.Type) throws {
      typealias Model = Sample<Value>
      let repository = try context.makeStore().open()
      let models = Model.all(seed: 10)
      try repository.save(contentsOf: models)
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
    try check(kind.type)
  }

  @Test(
    "V6 between is false with nil, includes its bounds, and holds at the extremes",
    arguments: ContextUnderTest.all)
  func between(context: ContextUnderTest) throws {
    func check<Value: Sampled & OracleValue & ExactText & Comparable>(_ ranges: [ClosedRange<Value>]) throws {
      typealias Model = Sample<Value>
      let repository = try context.makeStore().open()
      let models = Model.all(seed: 12)
      try repository.save(contentsOf: models)
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

  @Test("V6 a raw row with nil is in the negation of every ordering", arguments: ContextUnderTest.all)
  func nilInNegations(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Person("nobody"))
    let orderings: [PersistentPredicate<Person>] = [
      \.age > 5, \.age < 5, \.age >= 5, \.age <= 5, .between(\.age, 0...9), .in(\.age, [1]),
      .contains(\.email, ""),
      .hasPrefix(\.email, ""), .hasSuffix(\.email, ""), .like(\.email, "%"), .matches(\.email, ""),
      \.age < \.age, \.age <= \.age, \.age >= \.seat, \.age == 5, \.height > .nan,
    ]
    for ordering in orderings {
      #expect(try repository.filter(Person.self, where: ordering).count() == 0, "\(ordering)")
      #expect(try repository.filter(Person.self, where: !ordering).count() == 1, "\(ordering)")
      #expect(try repository.filter(Person.self, where: !(!ordering)).count() == 0, "\(ordering)")
    }
    #expect(try repository.filter(Person.self, where: \.age == \.seat && \.age == .none).count() == 1)
  }
}
