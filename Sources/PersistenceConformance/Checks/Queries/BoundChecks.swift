import PersistenceCore

extension Condition {
  /// Evaluates `between` with nil or reversed bounds: false for any nil, empty if reversed (V6).
  static func between<Value: OracleValue>(
    _ field: String, _ property: SendableKeyPath<Model, Value?>, _ lower: Value?, _ upper: Value?
  ) -> Condition {
    let node = PredicateNode.isBetween(
      field: field, lower: lower.persistentValue, upper: upper.persistentValue)
    return Condition(PersistentPredicate(node: node)) { model in
      guard let value = model[keyPath: property], let lower, let upper else { return false }
      return Value.oracle(lower, value) <= 0 && Value.oracle(value, upper) <= 0
    }
  }

  /// Returns all comparisons of a required field with an optional one, in both directions.
  static func mixed<Value: OracleValue>(
    _ field: String, _ property: SendableKeyPath<Model, Value>, with other: String,
    _ optional: SendableKeyPath<Model, Value?>
  ) -> [Condition] {
    ComparisonOperator.allCases.flatMap { comparison in
      let holds: @Sendable (Value?, Value?) -> Bool = { left, right in
        let isOrdering = comparison != .equal && comparison != .notEqual
        if isOrdering, left == nil || right == nil { return false }
        return comparison.holds(Value?.oracle(left, right))
      }
      return [
        Condition(PersistentPredicate(node: .fieldComparison(left: field, comparison, right: other))) {
          holds($0[keyPath: property], $0[keyPath: optional])
        },
        Condition(PersistentPredicate(node: .fieldComparison(left: other, comparison, right: field))) {
          holds($0[keyPath: optional], $0[keyPath: property])
        },
      ]
    }
  }
}

/// V6: bounds, lists and comparisons of fields, for every kind.
enum BoundChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "between matches nothing if a bound or the field is nil or the bounds are reversed, for every kind",
      [.v6, .v4, .v4a]
    ) { context in for type in SampledTypes.all { try bounds(context, type) } },
    ConformanceCheck("a field can be compared with itself and with an optional field, for every kind", [.v6])
    { context in for type in SampledTypes.all { try fields(context, type) } },
    ConformanceCheck(
      "long lists, lists with repeated values and lists of all values match as single comparisons do", [.v6]
    ) { context in for type in SampledTypes.all { try lists(context, type) } },
    ConformanceCheck(
      "an empty conjunction is true, an empty disjunction is false, and constants are evaluated", [.v6],
      constants),
  ]

  private static func filled<Value: SampledValue>(
    _ context: ContextUnderTest, _ type: Value.Type, seed: UInt64
  ) throws -> (Repository, [Sample<Value>]) {
    let models = Sample<Value>.all(seed: seed)
    let repository = try context.makeRepository(with: models)
    return (repository, models)
  }

  private static func bounds<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    typealias Model = Sample<Value>
    let (repository, models) = try filled(context, type, seed: 15)
    var random = SeededGenerator(seed: 16)
    let values = Value.samples.sorted { Value.oracle($0, $1) < 0 }
    var ranges: [(Value?, Value?)] = [
      (nil, nil), (nil, values.last), (values.first, nil), (values.first, values.last),
      (values.last, values.first), (values.last, values.last), (values.first, values.first),
    ]
    for _ in 0..<2 { ranges.append((random.pick(values), random.pick(values))) }
    let indexed = ranges.map { Condition.between("maybe", \Model.maybe, $0, $1) }
    let scanned = ranges.suffix(3).map { Condition.between("perhaps", \Model.perhaps, $0, $1) }
    try expect(indexed + scanned, over: models, in: repository)
  }

  private static func fields<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    typealias Model = Sample<Value>
    let (repository, models) = try filled(context, type, seed: 17)
    let mixed = Condition.mixed("value", \Model.value, with: "maybe", \Model.maybe)
    try expect(
      mixed + Condition.comparisons(\Model.perhaps, with: \Model.perhaps), over: models, in: repository)
  }

  private static func lists<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    typealias Model = Sample<Value>
    let (repository, models) = try filled(context, type, seed: 18)
    let values = Value.samples
    let long = Array(repeating: values.dropLast(), count: 600 / values.count + 1).flatMap(\.self)
    try expect(
      [
        .in(\Model.value, long), .in(\Model.maybe, long.map(Optional.some)), !.in(\Model.maybe, long + [nil]),
        .in(\Model.perhaps, values.map(Optional.some)), .in(\Model.other, values.reversed()),
        .in(\Model.value, values) && !.in(\Model.other, Array(values.prefix(2))),
      ], over: models, in: repository)
  }

  @Sendable private static func constants(_ context: ContextUnderTest) throws {
    let (repository, models) = try filled(context, Int.self, seed: 19)
    func condition(_ node: PredicateNode, _ truth: Bool) -> Condition<Sample<Int>> {
      Condition(PersistentPredicate(node: node)) { _ in truth }
    }
    let some = PredicateNode.comparison(field: "maybe", .equal, .null)
    try expect(
      [
        condition(.all([]), true), condition(.any([]), false), condition(.constant(true), true),
        condition(.constant(false), false), condition(.not(.all([])), false),
        condition(.not(.constant(false)), true), condition(.any([some, .constant(true)]), true),
        condition(.all([some, .constant(false)]), false), condition(.any([.all([])]), true),
        condition(.all([.any([])]), false), condition(.any([some, .not(some)]), true),
        condition(.all([some, .not(some)]), false),
        Condition(PersistentPredicate(node: .all([.any([.not(.not(some))])]))) { $0.maybe == nil },
      ], over: models, in: repository)
  }
}
