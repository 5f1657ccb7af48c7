package import PersistenceCore

/// A predicate, and the same condition as a plain Swift closure.
package struct Condition<Model: PersistentRecord>: Sendable, CustomStringConvertible {
  /// What the store is asked.
  package let predicate: PersistentPredicate<Model>
  /// What it is compared with.
  package let holds: @Sendable (Model) -> Bool

  /// Makes a condition.
  package init(_ predicate: PersistentPredicate<Model>, _ holds: @escaping @Sendable (Model) -> Bool) {
    self.predicate = predicate
    self.holds = holds
  }

  /// The predicate's text.
  package var description: String { predicate.description }

  /// Both conditions.
  package static func && (left: Condition, right: Condition) -> Condition {
    Condition(left.predicate && right.predicate) { left.holds($0) && right.holds($0) }
  }

  /// Either condition.
  package static func || (left: Condition, right: Condition) -> Condition {
    Condition(left.predicate || right.predicate) { left.holds($0) || right.holds($0) }
  }

  /// The opposite.
  package static prefix func ! (condition: Condition) -> Condition {
    Condition(!condition.predicate) { !condition.holds($0) }
  }
}

/// What a value of a field must be for the oracle to judge it.
package typealias OracleValue = OracleOrder & PersistentValueConvertible & Sendable

extension Condition {
  /// All comparisons of a property with a value.
  package static func comparisons<Value: OracleValue>(
    _ property: SendableKeyPath<Model, Value>, _ value: Value
  ) -> [Condition] {
    [
      Condition(property == value) { Value.oracle($0[keyPath: property], value) == 0 },
      Condition(property != value) { Value.oracle($0[keyPath: property], value) != 0 },
      Condition(property < value) { Value.oracle($0[keyPath: property], value) < 0 },
      Condition(property <= value) { Value.oracle($0[keyPath: property], value) <= 0 },
      Condition(property > value) { Value.oracle($0[keyPath: property], value) > 0 },
      Condition(property >= value) { Value.oracle($0[keyPath: property], value) >= 0 },
    ]
  }

  /// All comparisons of an optional property with a value: false with nil, but for equality (V6).
  package static func comparisons<Value: OracleValue>(
    optional property: SendableKeyPath<Model, Value?>, _ value: Value
  ) -> [Condition] {
    func ordered(
      _ predicate: PersistentPredicate<Model>, _ holds: @escaping @Sendable (Int) -> Bool
    ) -> Condition {
      Condition(predicate) { model in model[keyPath: property].map { holds(Value.oracle($0, value)) } ?? false
      }
    }
    return [
      Condition(property == value) { Value?.oracle($0[keyPath: property], value) == 0 },
      Condition(property != value) { Value?.oracle($0[keyPath: property], value) != 0 },
      ordered(property < value) { $0 < 0 }, ordered(property <= value) { $0 <= 0 },
      ordered(property > value) { $0 > 0 }, ordered(property >= value) { $0 >= 0 },
    ]
  }

  /// All comparisons of an optional property with nil: every ordering is false (V6).
  package static func nilComparisons<Value: OracleValue>(_ property: SendableKeyPath<Model, Value?>)
    -> [Condition]
  {
    let none: Value? = nil
    return [
      Condition(property == none) { $0[keyPath: property] == nil },
      Condition(property != none) { $0[keyPath: property] != nil },
      Condition(property < none) { _ in false }, Condition(property <= none) { _ in false },
      Condition(property > none) { _ in false }, Condition(property >= none) { _ in false },
    ]
  }

  /// All comparisons of two properties, optional or not, of one type.
  package static func comparisons<Value: OracleValue>(
    _ left: SendableKeyPath<Model, Value>, with right: SendableKeyPath<Model, Value>
  ) -> [Condition] {
    func ordered(
      _ predicate: PersistentPredicate<Model>, _ holds: @escaping @Sendable (Int) -> Bool
    ) -> Condition {
      Condition(predicate) { model in
        let (first, second) = (model[keyPath: left], model[keyPath: right])
        if first.persistentValue.isNull || second.persistentValue.isNull { return false }
        return holds(Value.oracle(first, second))
      }
    }
    return [
      Condition(left == right) { Value.oracle($0[keyPath: left], $0[keyPath: right]) == 0 },
      Condition(left != right) { Value.oracle($0[keyPath: left], $0[keyPath: right]) != 0 },
      ordered(left < right) { $0 < 0 }, ordered(left <= right) { $0 <= 0 },
      ordered(left > right) { $0 > 0 }, ordered(left >= right) { $0 >= 0 },
    ]
  }

  /// Membership in a list, of a property that may be optional.
  package static func `in`<Value: OracleValue>(_ property: SendableKeyPath<Model, Value>, _ values: [Value])
    -> Condition
  {
    Condition(.in(property, values)) { model in
      values.contains { Value.oracle($0, model[keyPath: property]) == 0 }
    }
  }
}
