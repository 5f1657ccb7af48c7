package import PersistenceDriver
import PersistencePrimitives

/// The models and references of a store, for requests that name them.
package final class StoredRelations {
  private let reader: any StorageReader
  private let declared: [StoredName: ModelSchema]
  private lazy var references = Result { try ReferenceLedger.references(reader) }
  private lazy var foreign = Result { try ReferenceLedger.foreign(reader) }

  /// Creates the relations of a store, which is read when a request names one.
  ///
  /// - Parameters:
  ///   - reader: Reads the store.
  ///   - declared: The schemas as a client declares them; others are those of the store.
  package init(_ reader: any StorageReader, declared: [ModelSchema] = []) {
    self.reader = reader
    self.declared = declared.byName
  }

  /// The model to which a field refers; nil if the store lists no such reference and has no such foreign key.
  package func target(of field: String, in model: String) throws -> ModelSchema? {
    func isIt(_ reference: StoredReference) -> Bool {
      StoredName(reference.model) == StoredName(model) && StoredName(reference.field) == StoredName(field)
    }
    let reference = try references.get().first(where: isIt) ?? foreign.get().first(where: isIt)
    return try reference.flatMap { try self.model(named: $0.target) }
  }

  /// The model with a name; nil if the store does not contain it.
  package func model(named name: String) throws -> ModelSchema? {
    if let schema = declared[StoredName(name)] { return schema }
    return try ReservedModel.isReserved(name) ? nil : reader.schema(named: name)
  }
}

extension [ModelSchema] {
  /// The schemas by their names; of several with one name, the first.
  var byName: [StoredName: ModelSchema] {
    Dictionary(map { (StoredName($0.name), $0) }) { first, _ in first }
  }
}
