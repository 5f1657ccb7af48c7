import PersistenceDriver
import PersistencePrimitives

/// The two ends of a reference: the field that refers, and the key that it refers to.
struct RelationEnds {
  /// The model with the reference.
  let referring: ModelSchema
  let field: FieldSchema
  /// The model of the records that the reference leads to.
  let target: ModelSchema
  let key: FieldSchema

  /// Finds the ends of a reference between a model and another one, which is on a side of it.
  ///
  /// - Throws: ``PersistenceError`` if the field does not exist or cannot refer to the target.
  init(_ side: RelatedCondition.Side, field name: String, of schema: ModelSchema, _ other: ModelSchema) throws
  {
    (referring, target) = side == .target ? (schema, other) : (other, schema)
    field = try referring.requiredField(named: name)
    guard target.key.count == 1, let key = target.field(named: target.key[0]), key.kind.tag == field.kind.tag
    else {
      throw PersistenceError(
        .invalidRequest,
        "“\(field.name)” of \(referring.name) cannot refer to a \(target.name), whose key is "
          + "(\(target.key.joined(separator: ", ")))", model: referring.name, field: field.name)
    }
    self.key = key
  }
}
