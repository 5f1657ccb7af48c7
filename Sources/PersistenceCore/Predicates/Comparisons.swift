public import PersistenceDriver

// Comparisons of a stored property with a value, with another property, and with nil. Each operator has a form
// for properties and one for optional properties; orderings with nil are false (contract V6).

/// The property is equal to the value.
public func == <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .equal, value)
}

/// The property is equal to the other property.
public func == <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .equal, with: right)
}

/// The property is different from the value.
public func != <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .notEqual, value)
}

/// The property is different from the other property.
public func != <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .notEqual, with: right)
}

/// The property is less than the value.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .less, value)
}

/// The property is not nil and less than the value.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .less, value)
}

/// The property is less than the other property.
public func < <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .less, with: right)
}

/// The property is at most the value.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .lessOrEqual, value)
}

/// The property is not nil and at most the value.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .lessOrEqual, value)
}

/// The property is at most the other property.
public func <= <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .lessOrEqual, with: right)
}

/// The property is greater than the value.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greater, value)
}

/// The property is not nil and greater than the value.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greater, value)
}

/// The property is greater than the other property.
public func > <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .greater, with: right)
}

/// The property is at least the value.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greaterOrEqual, value)
}

/// The property is not nil and at least the value.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(property, .greaterOrEqual, value)
}

/// The property is at least the other property.
public func >= <Model: PersistentFields, Value: PersistentValueConvertible>(
  left: KeyPath<Model, Value>, right: KeyPath<Model, Value>
) -> PersistentPredicate<Model> {
  .comparing(left, .greaterOrEqual, with: right)
}
