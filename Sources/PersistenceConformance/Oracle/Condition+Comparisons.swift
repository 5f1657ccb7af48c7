import PersistenceCore

extension Condition {
  /// Returns all comparisons of a property with a value.
  static func comparisons<Value: OracleValue>(
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

  /// Returns all comparisons of an optional property with a value; nil matches only inequality (V6).
  static func comparisons<Value: OracleValue>(
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

  /// Returns all comparisons of an optional property with nil; every ordering is false (V6).
  static func nilComparisons<Value: OracleValue>(_ property: SendableKeyPath<Model, Value?>) -> [Condition] {
    let none: Value? = nil
    return [
      Condition(property == none) { $0[keyPath: property] == nil },
      Condition(property != none) { $0[keyPath: property] != nil },
      Condition(property < none) { _ in false }, Condition(property <= none) { _ in false },
      Condition(property > none) { _ in false }, Condition(property >= none) { _ in false },
    ]
  }

  /// Returns all comparisons of two properties of one type, optional or not.
  static func comparisons<Value: OracleValue>(
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

  /// Returns the list membership of a property, optional or not.
  static func `in`<Value: OracleValue>(_ property: SendableKeyPath<Model, Value>, _ values: [Value])
    -> Condition
  {
    Condition(.in(property, values)) { model in
      values.contains { Value.oracle($0, model[keyPath: property]) == 0 }
    }
  }
}
