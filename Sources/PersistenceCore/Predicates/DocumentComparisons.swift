import PersistenceDriver

// Comparisons of a property that is stored as a document: equality only (contract V4a), of the values' JSON. A
// raw-representable `Codable` type is compared by its raw value.

/// The property, stored as a document, is equal to the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func == <Model: PersistentFields, Value: Codable>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(document: property, .equal, value)
}

/// The property, stored as a document or nil, is equal to the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func == <Model: PersistentFields, Value: Codable>(
  property: KeyPath<Model, Value?>, value: Value?
) -> PersistentPredicate<Model> {
  .comparing(document: property, .equal, value)
}

/// The property, stored as a document, is different from the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func != <Model: PersistentFields, Value: Codable>(
  property: KeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .comparing(document: property, .notEqual, value)
}

/// The property, stored as a document or nil, is different from the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func != <Model: PersistentFields, Value: Codable>(
  property: KeyPath<Model, Value?>, value: Value?
) -> PersistentPredicate<Model> {
  .comparing(document: property, .notEqual, value)
}
