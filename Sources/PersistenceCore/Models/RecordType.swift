package import PersistenceDriver

/// A record type for code that is not specialized for it.
///
/// Code that is generic at run time looks its types up in each call. A query would do so 25 times.
@usableFromInline
struct RecordType: Sendable {
  let type: any PersistentRecord.Type
  let schema: ModelSchema
  let hasFormerNames: Bool
  let hasReferences: Bool

  @usableFromInline
  init(_ type: any PersistentRecord.Type, _ schema: ModelSchema, hasFormerNames: Bool, hasReferences: Bool) {
    (self.type, self.schema) = (type, schema)
    (self.hasFormerNames, self.hasReferences) = (hasFormerNames, hasReferences)
  }

  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` if no store can represent the
  ///   declaration.
  @inlinable
  init<Model: PersistentRecord>(_ type: Model.Type) throws {
    let declared = type.schema
    self.init(
      type, try declared.model, hasFormerNames: declared.hasFormerNames,
      hasReferences: declared.hasReferences)
  }
}
