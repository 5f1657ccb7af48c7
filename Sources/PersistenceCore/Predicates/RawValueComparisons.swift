import PersistenceDriver

// Orderings of properties of raw-representable `Codable` types, which are stored as their raw values and have the raw
// values' order. Equality is with the documents: the property's field decides about the stored form.

/// The raw value of the property is less than the value's.
@_disfavoredOverload
public func < <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .less, value)
}

/// The raw value of the property is not nil and less than the value's.
@_disfavoredOverload
public func < <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .less, value)
}

/// The raw value of the property is at most the value's.
@_disfavoredOverload
public func <= <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .lessOrEqual, value)
}

/// The raw value of the property is not nil and at most the value's.
@_disfavoredOverload
public func <= <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .lessOrEqual, value)
}

/// The raw value of the property is greater than the value's.
@_disfavoredOverload
public func > <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .greater, value)
}

/// The raw value of the property is not nil and greater than the value's.
@_disfavoredOverload
public func > <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .greater, value)
}

/// The raw value of the property is at least the value's.
@_disfavoredOverload
public func >= <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .greaterOrEqual, value)
}

/// The raw value of the property is not nil and at least the value's.
@_disfavoredOverload
public func >= <Model: PersistentFields, Value: RawRepresentable & Codable>(
  property: KeyPath<Model, Value?>, value: Value
) -> PersistentPredicate<Model> where Value.RawValue: PersistentValueConvertible {
  .comparing(document: property, .greaterOrEqual, value)
}
