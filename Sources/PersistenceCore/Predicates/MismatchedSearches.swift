import PersistenceDriver

// The functions beside their forms that fit, for the reason that stands in MismatchedComparisons.swift.
extension PersistentPredicate where Model: PersistentFields {
  /// Never compiles: the values are of another type than the property.
  @_disfavoredOverload
  public static func `in`<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ values: Other
  ) -> Condition {
    .mistyped
  }

  /// Never compiles: the values are of another type than the property.
  @_disfavoredOverload
  public static func between<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ values: Other
  ) -> Condition {
    .mistyped
  }

  /// Never compiles: the property has no text, or what is looked for is none.
  @_disfavoredOverload
  public static func contains<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition {
    .mistyped
  }

  /// Never compiles: the property has no text, or what is looked for is none.
  @_disfavoredOverload
  public static func hasPrefix<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition {
    .mistyped
  }

  /// Never compiles: the property has no text, or what is looked for is none.
  @_disfavoredOverload
  public static func hasSuffix<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition {
    .mistyped
  }

  /// Never compiles: the property has no text, or what is looked for is none.
  @_disfavoredOverload
  public static func like<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition {
    .mistyped
  }

  /// Never compiles: the property has no text, or what is looked for is none.
  @_disfavoredOverload
  public static func matches<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: SendableKeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition {
    .mistyped
  }
}
