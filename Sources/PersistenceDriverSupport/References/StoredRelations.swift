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
  ///
  /// The names are the declared ones: the store may have renamed the model, the field and the target since.
  package func target(of field: String, in model: String) throws -> ModelSchema? {
    let stored = try names(of: field, in: model)
    func isIt(_ reference: StoredReference) -> Bool {
      StoredName(reference.model) == stored.model && StoredName(reference.field) == stored.field
    }
    let reference = try references.get().first(where: isIt) ?? foreign.get().first(where: isIt)
    return try reference.flatMap { try self.model(stored: $0.target) }
  }

  /// The names that the store has for a field and its model.
  private func names(of field: String, in model: String) throws -> (model: StoredName, field: StoredName) {
    guard let schema = declared[StoredName(model)], let position = schema.position(of: field),
      let mapping = try mapping(of: schema), case .stored(let place) = mapping.sources[position]
    else { return (StoredName(model), StoredName(field)) }
    return (StoredName(mapping.stored.name), StoredName(mapping.stored.fields[place].name))
  }

  /// The model with a name in the store, as it is declared.
  private func model(stored name: String) throws -> ModelSchema? {
    if let schema = declared[StoredName(name)] { return schema }
    for (_, schema) in declared.sorted(by: { $0.key < $1.key }) {
      do {
        if let mapping = try mapping(of: schema), StoredName(mapping.stored.name) == StoredName(name) {
          return schema
        }
      } catch let error as PersistenceError where error.code == .schemaMismatch || error.code == .newerStore {
        // The declaration of another model may not match the store.
      }
    }
    return try model(named: name)
  }

  /// How the store represents a declared schema; nil if under the same names.
  private func mapping(of schema: ModelSchema) throws -> SchemaMapping? {
    guard let fitted = reader as? any FittedReader else { return nil }
    return try fitted.fits.withMapping(of: schema, fitted.wrappedReader) { mapping in
      // No request follows that would find an obsolete mapping.
      let wanted = mapping?.stored ?? schema
      if let found = try fitted.wrappedReader.schema(named: wanted.name) {
        try wanted.requireCompatible(with: found, location: "")
      }
      return mapping
    }
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
