public import PersistenceCore

/// A field of a program's model that refers to records of one of its models.
public struct FuzzRelation: Sendable, Codable {
  /// The model with the field, by its position in the program's schemas.
  public var model: Int
  /// The name of the field.
  public var field: String
  /// The model of the records that the field refers to.
  public var target: Int
  /// What happens to the record when its target is deleted.
  public var rule: DeleteRule

  /// Creates a relation.
  public init(_ model: Int, _ field: String, to target: Int, onDelete rule: DeleteRule) {
    (self.model, self.field, self.target, self.rule) = (model, field, target, rule)
  }
}
