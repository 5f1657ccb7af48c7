import Synchronization

public import PersistenceDriver

/// What a record type looks like to a store, with the key path of every stored property.
///
/// A declaration that no store could keep is not found out when it is made, which cannot throw, but by the first
/// use, which does.
public struct RecordSchema<Model: PersistentRecord>: Sendable {
  @usableFromInline let storage: Storage

  /// Declares a model.
  ///
  /// - Parameters:
  ///   - name: The model's name in stores.
  ///   - fields: The stored properties, in the order of their positions in rows.
  ///   - key: The properties of the primary key, in order.
  ///   - indexes: Secondary indexes.
  public init(
    _ name: String, fields: [RecordField<Model>], key: [SendablePartialKeyPath<Model>],
    indexes: [RecordIndex<Model>] = []
  ) {
    storage = Storage(name, fields: fields, key: key, indexes: indexes)
  }

  /// Declares a model of this package's own, of a reserved name.
  package init(
    reserved name: String, fields: [RecordField<Model>], key: [SendablePartialKeyPath<Model>],
    indexes: [RecordIndex<Model>] = []
  ) {
    storage = Storage(name, fields: fields, key: key, indexes: indexes, isOurs: true)
  }

  /// The schema that drivers take.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` where the declaration is
  ///   one that no store could keep.
  @inlinable  // so that whoever asks may borrow it: threads have the count of its references in common
  public var model: ModelSchema {
    get throws { try storage.schema.get() }
  }

  /// The stored name of a property; nil where the key path is none.
  ///
  /// - Complexity: Constant.
  public func name(of keyPath: AnyKeyPath) -> String? { storage.names[keyPath] }

  /// The property of a stored name; nil where there is none.
  package func keyPath(of name: String) -> PartialKeyPath<Model>? {
    storage.names.first { StoredName($0.value) == StoredName(name) }?.key as? PartialKeyPath<Model>
  }

  /// The schema of a generic model, made once for each type it is used with.
  ///
  /// A generic type cannot have a stored static property, so its `schema` is computed and asks here.
  ///
  /// - Parameters:
  ///   - type: The model's type.
  ///   - make: Makes the schema the first time.
  /// - Returns: The one schema of the type.
  public static func shared(for type: Model.Type, _ make: () -> RecordSchema<Model>) -> RecordSchema<Model> {
    let known = sharedSchemas.withLock { $0[ObjectIdentifier(type)] as? RecordSchema<Model> }
    if let known { return known }
    let made = make()
    return sharedSchemas.withLock { schemas in
      if let other = schemas[ObjectIdentifier(type)] as? RecordSchema<Model> { return other }
      schemas[ObjectIdentifier(type)] = made
      return made
    }
  }

  @usableFromInline
  final class Storage: @unchecked Sendable {  // immutable; its key paths capture nothing
    @usableFromInline let schema: Result<ModelSchema, PersistenceError>
    let names: [AnyKeyPath: String]

    init(
      _ name: String, fields: [RecordField<Model>], key: [PartialKeyPath<Model>],
      indexes: [RecordIndex<Model>], isOurs: Bool = false
    ) {
      var names: [AnyKeyPath: String] = [:]
      for field in fields { names[field.keyPath] = field.schema.name }
      self.names = names
      func stored(_ keyPath: PartialKeyPath<Model>) throws -> String {
        guard let stored = names[keyPath] else {
          throw PersistenceError.invalidSchema(name, "\(keyPath) is no stored property")
        }
        return stored
      }
      do {
        if let refusal = fields.lazy.compactMap(\.refusal).first {
          throw PersistenceError.invalidSchema(name, refusal)
        }
        guard isOurs || !ReservedModel.isReserved(name) else {
          throw PersistenceError.invalidSchema(
            name, "names that begin with “\(ReservedModel.prefix)” are those of models of this package")
        }
        schema = .success(
          try ModelSchema(
            name: name, fields: fields.map(\.schema), key: try key.map(stored),
            indexes: try indexes.map { IndexSchema(try $0.keyPaths.map(stored), isUnique: $0.isUnique) }))
      } catch let error as PersistenceError {
        schema = .failure(error)
      } catch {
        schema = .failure(PersistenceError.invalidSchema(name, "\(error)"))
      }
    }
  }
}

private let sharedSchemas = Mutex<[ObjectIdentifier: any Sendable]>([:])
