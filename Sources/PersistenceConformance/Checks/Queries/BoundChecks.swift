import PersistenceCore

extension Condition {
  /// `between` with bounds that may be nil or the wrong way round: false with any nil, empty where reversed (V6).
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

  /// All comparisons of a field that cannot be nil with one that can, both ways round.
  static func mixed<Value: OracleValue>(
    _ field: String, _ property: SendableKeyPath<Model, Value>, with other: String,
    _ optional: SendableKeyPath<Model, Value?>
  ) -> [Condition] {
    ComparisonOperator.allCases.flatMap { comparison in
      let holds: @Sendable (Value?, Value?) -> Bool = { left, right in
        let order = Value?.oracle(left, right)
        switch comparison {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case _ where left == nil || right == nil: return false
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        }
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

/// V6: bounds, lists and fields against fields, of every kind.
enum BoundChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "between × every kind × nil: a bound or field that is nil, or bounds the wrong way round, find nothing",
      [.v6, .v4, .v4a]
    ) { context in for kind in SampledKind.all { try bounds(context, kind) } },
    ConformanceCheck(
      "a field is compared with itself and with one that may be nil, for every kind", [.v6]
    ) { context in for kind in SampledKind.all { try fields(context, kind) } },
    ConformanceCheck(
      "long lists, lists that repeat values, and lists of all values find what single comparisons find", [.v6]
    ) { context in for kind in SampledKind.all { try lists(context, kind) } },
    ConformanceCheck(
      "logic over nothing, and constants: all of nothing is true, any of nothing is false", [.v6], constants),
  ]

  private static func filled<Value: Sampled & OracleValue & ExactText>(
    _ context: ContextUnderTest, _ type: Value.Type, seed: UInt64
  ) throws -> (Repository, [Sample<Value>]) {
    let repository = try context.makeStore().open()
    let models = Sample<Value>.all(seed: seed)
    try repository.save(contentsOf: models)
    return (repository, models)
  }

  @Sendable private static func bounds(_ context: ContextUnderTest, _ kind: SampledKind) throws {
    func check<Value: Sampled & OracleValue & ExactText>(_ type: Value.Type) throws {
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
    try check(kind.type)
  }

  @Sendable private static func fields(_ context: ContextUnderTest, _ kind: SampledKind) throws {
    func check<Value: Sampled & OracleValue & ExactText>(_ type: Value.Type) throws {
      typealias Model = Sample<Value>
      let (repository, models) = try filled(context, type, seed: 17)
      let mixed = Condition.mixed("value", \Model.value, with: "maybe", \Model.maybe)
      try expect(
        mixed + Condition.comparisons(\Model.perhaps, with: \Model.perhaps),
        over: models, in: repository)
    }
    try check(kind.type)
  }

  @Sendable private static func lists(_ context: ContextUnderTest, _ kind: SampledKind) throws {
    func check<Value: Sampled & OracleValue & ExactText>(_ type: Value.Type) throws {
      typealias Model = Sample<Value>
      let (repository, models) = try filled(context, type, seed: 18)
      let values = Value.samples
      let long = Array(repeating: values.dropLast(), count: 600 / values.count + 1).flatMap(\.self)
      try expect(
        [
          .in(\Model.value, long), .in(\Model.maybe, long.map(Optional.some)),
          !.in(\Model.maybe, long + [nil]),
          .in(\Model.perhaps, values.map(Optional.some)), .in(\Model.other, values.reversed()),
          .in(\Model.value, values) && !.in(\Model.other, Array(values.prefix(2))),
        ], over: models, in: repository)
    }
    try check(kind.type)
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
