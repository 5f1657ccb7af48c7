import PersistenceDriver

// Comparisons of a property that is stored as a document: equality only (contract V4a), of the values' JSON.

/// The property, stored as a document, is equal to the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func == <Model: PersistentFields, Value: Codable>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .document(property, .equal, value)
}

/// The property, stored as a document or nil, is equal to the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func == <Model: PersistentFields, Value: Codable>(
  property: SendableKeyPath<Model, Value?>, value: Value?
) -> PersistentPredicate<Model> {
  .document(property, .equal, value)
}

/// The property, stored as a document, is different from the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func != <Model: PersistentFields, Value: Codable>(
  property: SendableKeyPath<Model, Value>, value: Value
) -> PersistentPredicate<Model> {
  .document(property, .notEqual, value)
}

/// The property, stored as a document or nil, is different from the value.
///
/// The JSON of the values is compared. A set or dictionary *inside* the value is encoded in an order that
/// differs between processes, unless the dictionary's keys are strings or integers. To compare such a
/// collection, store it in its own property or as a sorted array.
@_disfavoredOverload
public func != <Model: PersistentFields, Value: Codable>(
  property: SendableKeyPath<Model, Value?>, value: Value?
) -> PersistentPredicate<Model> {
  .document(property, .notEqual, value)
}

extension PersistentPredicate where Model: PersistentFields {
  fileprivate static func document<Value: Codable>(
    _ property: AnyKeyPath, _ comparison: ComparisonOperator, _ value: Value?
  ) -> PersistentPredicate {
    let field = Model.name(of: property)
    do {
      let document = try DocumentCoding.encode(value).map(PersistentValue.document) ?? .null
      return PersistentPredicate(node: .comparison(field: field, comparison, document))
    } catch {
      let failure = error as? PersistenceError ?? PersistenceError(.encodingFailed, "\(error)")
      return PersistentPredicate(node: .constant(false), failure: failure)
    }
  }
}
