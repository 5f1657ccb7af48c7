public import PersistenceDriver

// Fallback overloads for conditions with mismatched types. Without them, one mistake in a long condition
// makes the compiler try every overload of every operator, until it gives up on the whole expression. With
// them, the expression has a type, and only the mistaken clause gets an error, with the reason.
//
// An unavailable declaration would not work: the compiler considers it only after all others fail. The
// compiler checks an unavailable conformance once it has inferred the types, and rejects it then. The
// conforming type must be an inferred one, because the compiler does not recheck a requirement that known
// types satisfy.

/// The result of a condition with mismatched types, which does not compile.
///
/// A property can only be compared with values and properties of its own type. Only properties with text can
/// be searched.
public protocol MismatchedTypes<Model> {
  /// The model of the condition.
  associatedtype Model

  /// Creates a condition.
  init(node: PredicateNode)
}

@available(
  *, unavailable, message: "compare a property, or search its text, only with a value of its own type"
)
extension PersistentPredicate: MismatchedTypes {}

/// Does not compile: the value and the property have different types.
@_disfavoredOverload
public func == <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: KeyPath<Model, Value>, value: Other
) -> Condition { .mistyped }

/// Does not compile: the properties have different types.
@_disfavoredOverload
public func == <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Other>
) -> Condition { .mistyped }

/// Does not compile: the value and the property have different types.
@_disfavoredOverload
public func != <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: KeyPath<Model, Value>, value: Other
) -> Condition { .mistyped }

/// Does not compile: the properties have different types.
@_disfavoredOverload
public func != <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Other>
) -> Condition { .mistyped }

/// Does not compile: the value and the property have different types.
@_disfavoredOverload
public func < <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: KeyPath<Model, Value>, value: Other
) -> Condition { .mistyped }

/// Does not compile: the properties have different types.
@_disfavoredOverload
public func < <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Other>
) -> Condition { .mistyped }

/// Does not compile: the value and the property have different types.
@_disfavoredOverload
public func <= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: KeyPath<Model, Value>, value: Other
) -> Condition { .mistyped }

/// Does not compile: the properties have different types.
@_disfavoredOverload
public func <= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Other>
) -> Condition { .mistyped }

/// Does not compile: the value and the property have different types.
@_disfavoredOverload
public func > <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: KeyPath<Model, Value>, value: Other
) -> Condition { .mistyped }

/// Does not compile: the properties have different types.
@_disfavoredOverload
public func > <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Other>
) -> Condition { .mistyped }

/// Does not compile: the value and the property have different types.
@_disfavoredOverload
public func >= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  property: KeyPath<Model, Value>, value: Other
) -> Condition { .mistyped }

/// Does not compile: the properties have different types.
@_disfavoredOverload
public func >= <Model: PersistentFields, Value, Other, Condition: MismatchedTypes<Model>>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Other>
) -> Condition { .mistyped }

extension MismatchedTypes {
  /// The result of a function that is never called.
  static var mistyped: Self { Self(node: .constant(false)) }
}

// Fallback overloads of the functions, for the reason at the top of this file.
extension PersistentPredicate where Model: PersistentFields {
  /// Does not compile: the values and the property have different types.
  @_disfavoredOverload
  public static func `in`<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ values: Other
  ) -> Condition { .mistyped }

  /// Does not compile: the values and the property have different types.
  @_disfavoredOverload
  public static func between<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ values: Other
  ) -> Condition { .mistyped }

  /// Does not compile: the property or the search term is not text.
  @_disfavoredOverload
  public static func contains<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition { .mistyped }

  /// Does not compile: the property or the search term is not text.
  @_disfavoredOverload
  public static func hasPrefix<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition { .mistyped }

  /// Does not compile: the property or the search term is not text.
  @_disfavoredOverload
  public static func hasSuffix<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition { .mistyped }

  /// Does not compile: the property or the search term is not text.
  @_disfavoredOverload
  public static func like<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition { .mistyped }

  /// Does not compile: the property or the search term is not text.
  @_disfavoredOverload
  public static func matches<Value, Other, Condition: MismatchedTypes<Model>>(
    _ property: KeyPath<Model, Value>, _ sought: Other, caseInsensitive: Bool = false
  ) -> Condition { .mistyped }
}
