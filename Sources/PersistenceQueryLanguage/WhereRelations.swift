package import PersistenceDriver

/// What a condition must know of a store in order to ask through its references.
package protocol WhereRelations {
  /// The model to which a field refers; nil if the field is no reference.
  func target(of field: String, in model: String) throws -> ModelSchema?

  /// The model with a name; nil if the store does not contain it.
  func model(named name: String) throws -> ModelSchema?
}
