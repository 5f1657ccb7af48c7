public import PersistenceDriver

// What the compiler finds where a condition's types do not fit. Without it, a mistake in one of many clauses has it try
// every overload of every operator in all of them, until it gives up for the whole expression; with it, the expression
// has a type, and the one clause an error that says why.
//
// A declaration that is itself unavailable would not do: the compiler looks at such only after all others have failed.
// An unavailable conformance is looked at once the types stand, and refused there. It has to be that of a type that is
// inferred, since a requirement that is fulfilled by what is known is not asked again.

/// Never used: a condition whose types do not fit, which does not compile.
///
/// A property is compared with values and properties of its own type; searched are properties with text.
public protocol MismatchedTypes<Model> {
  /// The model of the condition.
  associatedtype Model

  /// Creates a condition.
  init(node: PredicateNode)
}

@available(*, unavailable, message: "a property is compared with, and searched for, what has its own type")
extension PersistentPredicate: MismatchedTypes {}

/// Never compiles: the value is of another type than the property.
@_disfavoredOverload
public func == <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: SendableKeyPath<Model, Value>, value: Other
) -> Condition {
  .mistyped
}

/// Never compiles: the properties are of different types.
@_disfavoredOverload
public func == <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Other>
) -> Condition {
  .mistyped
}

/// Never compiles: the value is of another type than the property.
@_disfavoredOverload
public func != <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: SendableKeyPath<Model, Value>, value: Other
) -> Condition {
  .mistyped
}

/// Never compiles: the properties are of different types.
@_disfavoredOverload
public func != <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Other>
) -> Condition {
  .mistyped
}

/// Never compiles: the value is of another type than the property.
@_disfavoredOverload
public func < <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: SendableKeyPath<Model, Value>, value: Other
) -> Condition {
  .mistyped
}

/// Never compiles: the properties are of different types.
@_disfavoredOverload
public func < <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Other>
) -> Condition {
  .mistyped
}

/// Never compiles: the value is of another type than the property.
@_disfavoredOverload
public func <= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: SendableKeyPath<Model, Value>, value: Other
) -> Condition {
  .mistyped
}

/// Never compiles: the properties are of different types.
@_disfavoredOverload
public func <= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Other>
) -> Condition {
  .mistyped
}

/// Never compiles: the value is of another type than the property.
@_disfavoredOverload
public func > <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: SendableKeyPath<Model, Value>, value: Other
) -> Condition {
  .mistyped
}

/// Never compiles: the properties are of different types.
@_disfavoredOverload
public func > <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Other>
) -> Condition {
  .mistyped
}

/// Never compiles: the value is of another type than the property.
@_disfavoredOverload
public func >= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: SendableKeyPath<Model, Value>, value: Other
) -> Condition {
  .mistyped
}

/// Never compiles: the properties are of different types.
@_disfavoredOverload
public func >= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: SendableKeyPath<Model, Value>, right: SendableKeyPath<Model, Other>
) -> Condition {
  .mistyped
}

extension MismatchedTypes {
  /// What a function returns that is never called.
  static var mistyped: Self { Self(node: .constant(false)) }
}

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
