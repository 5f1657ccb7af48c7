public import PersistenceDriver

extension PersistentPredicate where Model: PersistentFields {
  /// The property equals one of the values; nil in the values matches nil (contract V6).
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - values: The values; if there are none, the condition is false.
  /// - Returns: The condition.
  public static func `in`<Value: PersistentValueConvertible>(
    _ property: KeyPath<Model, Value>, _ values: some Sequence<Value>
  ) -> PersistentPredicate { isIn(property, values) }

  /// The optional property equals one of the values.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - values: The values; if there are none, the condition is false.
  /// - Returns: The condition.
  public static func `in`<Value: PersistentValueConvertible>(
    _ property: KeyPath<Model, Value?>, _ values: some Sequence<Value>
  ) -> PersistentPredicate { isIn(property, values) }

  /// The property, of any other `Codable` type, equals one of the values.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as a document, or as the raw value of its type.
  ///   - values: The values; if there are none, the condition is false.
  /// - Returns: The condition.
  @_disfavoredOverload
  public static func `in`<Value: Codable>(
    _ property: KeyPath<Model, Value>, _ values: some Sequence<Value>
  ) -> PersistentPredicate { isIn(documents: property, values) }

  /// The optional property, of any other `Codable` type, equals one of the values.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as a document, or as the raw value of its type.
  ///   - values: The values; if there are none, the condition is false.
  /// - Returns: The condition.
  @_disfavoredOverload
  public static func `in`<Value: Codable>(
    _ property: KeyPath<Model, Value?>, _ values: some Sequence<Value>
  ) -> PersistentPredicate { isIn(documents: property, values) }

  /// The property lies in a range, bounds included.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - range: The range.
  /// - Returns: The condition.
  public static func between<Value: PersistentValueConvertible & Comparable>(
    _ property: KeyPath<Model, Value>, _ range: ClosedRange<Value>
  ) -> PersistentPredicate { between(property, range.lowerBound, range.upperBound) }

  /// The optional property is not nil and lies in a range, bounds included.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - range: The range.
  /// - Returns: The condition.
  public static func between<Value: PersistentValueConvertible & Comparable>(
    _ property: KeyPath<Model, Value?>, _ range: ClosedRange<Value>
  ) -> PersistentPredicate { between(property, range.lowerBound, range.upperBound) }

  /// The property lies in a range, without its upper bound.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - range: The range; if it is empty, the condition is false.
  /// - Returns: The condition.
  public static func between<Value: PersistentValueConvertible & Comparable>(
    _ property: KeyPath<Model, Value>, _ range: Range<Value>
  ) -> PersistentPredicate {
    comparing(property, .greaterOrEqual, range.lowerBound) && comparing(property, .less, range.upperBound)
  }

  /// The optional property is not nil and lies in a range, without its upper bound.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - range: The range; if it is empty, the condition is false.
  /// - Returns: The condition.
  public static func between<Value: PersistentValueConvertible & Comparable>(
    _ property: KeyPath<Model, Value?>, _ range: Range<Value>
  ) -> PersistentPredicate {
    comparing(property, .greaterOrEqual, range.lowerBound) && comparing(property, .less, range.upperBound)
  }

  private static func isIn<Value: PersistentValueConvertible>(
    _ property: AnyKeyPath, _ values: some Sequence<Value>
  ) -> PersistentPredicate {
    if let field = Model.fieldName(for: property) {
      return PersistentPredicate(node: .isIn(field: field, values.map { $0.persistentValue }))
    }
    return placed(property) { place in .any(try values.map { try ComparisonOperator.equal.node(place, $0) }) }
  }

  private static func isIn<Value: Encodable>(
    documents property: AnyKeyPath, _ values: some Sequence<Value>
  ) -> PersistentPredicate {
    placed(property) { place in
      guard case .field(let field) = place else {
        return .any(try values.map { try ComparisonOperator.equal.node(place, $0) })
      }
      return .isIn(field: field, try values.map { try Model.storedForm(of: $0, in: field) })
    }
  }

  private static func between<Value: PersistentValueConvertible>(
    _ property: AnyKeyPath, _ lower: Value, _ upper: Value
  ) -> PersistentPredicate {
    placed(property) { place in
      switch place {
      case .field(let field):
        .isBetween(field: field, lower: lower.persistentValue, upper: upper.persistentValue)
      case .part:
        .all([
          try ComparisonOperator.greaterOrEqual.node(place, lower),
          try ComparisonOperator.lessOrEqual.node(place, upper),
        ])
      }
    }
  }
}
