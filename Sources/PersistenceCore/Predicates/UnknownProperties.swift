public import PersistenceDriver

// Fallback overloads for key paths that name no property of the model, for the reason at the top of
// `MismatchedConditions.swift`. Without them, one misspelt name makes the compiler try every overload of every operator,
// and its error names neither the clause nor the property.

/// The root of a key path to a property that a model does not have; such a condition does not compile.
@dynamicMemberLookup
public struct UnknownProperties<Model> {
  /// Stands for any name.
  public subscript(dynamicMember name: String) -> UnknownProperty { UnknownProperty() }
}

/// A property that a model does not have.
public struct UnknownProperty {}

/// The result of a condition on a property that the model does not have, which does not compile.
public protocol UnknownPropertyCondition<Model> {
  /// The model of the condition.
  associatedtype Model

  /// Creates a condition.
  init(node: PredicateNode)
}

@available(
  *, unavailable,
  message: "the key path of this condition names no property of the model; check the property's spelling"
)
extension PersistentPredicate: UnknownPropertyCondition {}

/// The result of a comparison of a property with nil that is never nil, which does not compile.
public protocol NeverNilCondition<Model> {
  /// The model of the condition.
  associatedtype Model

  /// Creates a condition.
  init(node: PredicateNode)
}

@available(
  *, unavailable,
  message:
    "the property is not optional, so it is never nil; remove this condition, or make the property optional"
)
extension PersistentPredicate: NeverNilCondition {}

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func == <Model: PersistentFields, Other, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>, value: Other?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func != <Model: PersistentFields, Other, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>, value: Other?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func < <Model: PersistentFields, Other, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>, value: Other?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func <= <Model: PersistentFields, Other, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>, value: Other?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func > <Model: PersistentFields, Other, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>, value: Other?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func >= <Model: PersistentFields, Other, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>, value: Other?
) -> Condition { .unknown }

// The right sides are optional, to rank below the overloads for properties of different types.

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func == <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  left: KeyPath<UnknownProperties<Model>, UnknownProperty>,
  right: KeyPath<UnknownProperties<Model>, UnknownProperty>?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func != <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  left: KeyPath<UnknownProperties<Model>, UnknownProperty>,
  right: KeyPath<UnknownProperties<Model>, UnknownProperty>?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func < <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  left: KeyPath<UnknownProperties<Model>, UnknownProperty>,
  right: KeyPath<UnknownProperties<Model>, UnknownProperty>?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func <= <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  left: KeyPath<UnknownProperties<Model>, UnknownProperty>,
  right: KeyPath<UnknownProperties<Model>, UnknownProperty>?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func > <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  left: KeyPath<UnknownProperties<Model>, UnknownProperty>,
  right: KeyPath<UnknownProperties<Model>, UnknownProperty>?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func >= <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  left: KeyPath<UnknownProperties<Model>, UnknownProperty>,
  right: KeyPath<UnknownProperties<Model>, UnknownProperty>?
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func == <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>?, value: _OptionalNilComparisonType
) -> Condition { .unknown }

/// Does not compile: the model has no such property.
@_disfavoredOverload
public func != <Model: PersistentFields, Condition: UnknownPropertyCondition<Model>>(
  property: KeyPath<UnknownProperties<Model>, UnknownProperty>?, value: _OptionalNilComparisonType
) -> Condition { .unknown }

/// Does not compile: the property is never nil.
@_disfavoredOverload
public func == <Model: PersistentFields, Value, Condition: NeverNilCondition<Model>>(
  property: KeyPath<Model, Value>, value: _OptionalNilComparisonType
) -> Condition { Condition(node: .constant(false)) }

/// Does not compile: the property is never nil.
@_disfavoredOverload
public func != <Model: PersistentFields, Value, Condition: NeverNilCondition<Model>>(
  property: KeyPath<Model, Value>, value: _OptionalNilComparisonType
) -> Condition { Condition(node: .constant(false)) }

extension UnknownPropertyCondition {
  /// The result of a function that is never called.
  static var unknown: Self { Self(node: .constant(false)) }
}

extension PersistentPredicate where Model: PersistentFields {
  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func `in`<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?
  ) -> Condition { .unknown }

  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func between<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?
  ) -> Condition { .unknown }

  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func contains<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?,
    caseInsensitive: Bool = false
  ) -> Condition { .unknown }

  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func hasPrefix<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?,
    caseInsensitive: Bool = false
  ) -> Condition { .unknown }

  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func hasSuffix<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?,
    caseInsensitive: Bool = false
  ) -> Condition { .unknown }

  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func like<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?,
    caseInsensitive: Bool = false
  ) -> Condition { .unknown }

  /// Does not compile: the model has no such property.
  @_disfavoredOverload
  public static func matches<Other, Condition: UnknownPropertyCondition<Model>>(
    _ property: KeyPath<UnknownProperties<Model>, UnknownProperty>, _ values: Other?,
    caseInsensitive: Bool = false
  ) -> Condition { .unknown }
}

extension Query {
  /// Does not compile: the model has no such property.
  @available(
    *, unavailable, message: "the key path names no property of the model; check the property's spelling"
  )
  @_disfavoredOverload
  public func sorted(
    by property: KeyPath<UnknownProperties<Model>, UnknownProperty>, inOrder order: SortDirection = .ascending
  ) -> Query { self }
}
