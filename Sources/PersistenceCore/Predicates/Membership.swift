public import PersistenceDriver

extension PersistentPredicate where Model: PersistentFields {
  /// The property equals one of the values; nil in the values matches nil (contract V6).
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - values: The values; if there are none, the condition is false.
  /// - Returns: The condition.
  public static func `in`<Value: PersistentValueConvertible>(
    _ property: SendableKeyPath<Model, Value>, _ values: some Sequence<Value>
  ) -> PersistentPredicate {
    PersistentPredicate(node: .isIn(field: Model.name(of: property), values.map { $0.persistentValue }))
  }

  /// The optional property equals one of the values.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - values: The values; if there are none, the condition is false.
  /// - Returns: The condition.
  public static func `in`<Value: PersistentValueConvertible>(
    _ property: SendableKeyPath<Model, Value?>, _ values: some Sequence<Value>
  ) -> PersistentPredicate {
    PersistentPredicate(node: .isIn(field: Model.name(of: property), values.map { $0.persistentValue }))
  }

  /// The property lies in a range, bounds included.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - range: The range.
  /// - Returns: The condition.
  public static func between<Value: PersistentValueConvertible & Comparable>(
    _ property: SendableKeyPath<Model, Value>, _ range: ClosedRange<Value>
  ) -> PersistentPredicate {
    between(Model.name(of: property), range)
  }

  /// The optional property is not nil and lies in a range, bounds included.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - range: The range.
  /// - Returns: The condition.
  public static func between<Value: PersistentValueConvertible & Comparable>(
    _ property: SendableKeyPath<Model, Value?>, _ range: ClosedRange<Value>
  ) -> PersistentPredicate {
    between(Model.name(of: property), range)
  }

  private static func between<Value: PersistentValueConvertible>(_ field: String, _ range: ClosedRange<Value>)
    -> PersistentPredicate
  {
    PersistentPredicate(
      node: .isBetween(
        field: field, lower: range.lowerBound.persistentValue, upper: range.upperBound.persistentValue))
  }
}
