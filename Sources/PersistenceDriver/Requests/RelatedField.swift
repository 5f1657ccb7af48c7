import PersistencePrimitives

/// A field of the record to which a reference leads, as a sort criterion names it (contract L6).
public struct RelatedField: Sendable, Hashable, Codable {
  /// The stored name of the reference.
  public var reference: String
  /// The name of the model of the record.
  public var model: String
  /// The stored name of the record's field.
  public var field: String

  /// Creates a field.
  public init(_ reference: String, model: String, field: String) {
    (self.reference, self.model, self.field) = (reference, model, field)
  }

  /// The reference and the field, for messages.
  public var path: String { "\(reference).\(field)" }

  /// The name in a criterion: no stored field has it, so that a reader that ignores the relation sorts by no other field.
  package var criterionName: String { "\(ReservedModel.prefix)related.\(path)" }

  /// Whether two fields are the same; names are compared by their bytes.
  public static func == (left: RelatedField, right: RelatedField) -> Bool {
    StoredName(left.reference) == StoredName(right.reference)
      && StoredName(left.model) == StoredName(right.model)
      && StoredName(left.field) == StoredName(right.field)
  }

  /// Hashes the names.
  public func hash(into hasher: inout Hasher) {
    for name in [reference, model, field] { hasher.combine(StoredName(name)) }
  }
}
