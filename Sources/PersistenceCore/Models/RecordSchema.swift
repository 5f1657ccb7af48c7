import Synchronization

public import PersistenceDriver
package import PersistenceDriverSupport

/// The schema of a record type, with the key paths of its stored properties.
///
/// The initializer cannot throw, so the first use throws if the declaration is invalid.
public struct RecordSchema<Model: PersistentRecord>: Sendable {
  @usableFromInline let storage: Storage

  /// Declares a model.
  ///
  /// - Parameters:
  ///   - name: The model's name in stores.
  ///   - was: Earlier names.
  ///   - fields: The stored properties, in the order of their positions in rows.
  ///   - key: The properties of the primary key, in order.
  ///   - indexes: Secondary indexes.
  public init(
    _ name: String, was: [String] = [], fields: [RecordField<Model>], key: [PartialKeyPath<Model>],
    indexes: [RecordIndex<Model>] = []
  ) {
    storage = Storage(name, was: was, fields: fields, key: key, indexes: indexes)
  }

  /// Declares a model of this package, with a reserved name.
  package init(
    reserved name: String, fields: [RecordField<Model>], key: [PartialKeyPath<Model>],
    indexes: [RecordIndex<Model>] = []
  ) {
    storage = Storage(name, fields: fields, key: key, indexes: indexes, isOurs: true)
  }

  /// The schema for drivers.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidSchema`` if no store can represent the
  ///   declaration.
  @inlinable  // callers can borrow it, which avoids a contended reference count
  public var model: ModelSchema {
    get throws {
      // A result would be copied with its room for an error, which is a large value.
      if let valid = storage.valid { return valid }
      return try storage.schema.get()
    }
  }

  /// The error of a declaration that no store can represent.
  @usableFromInline var refusal: PersistenceError {
    guard case .failure(let error) = storage.schema else {
      return PersistenceError.invalidSchema(storage.model, "it has no schema")
    }
    return error
  }

  /// Whether the model had other names.
  @inlinable var hasFormerNames: Bool { storage.hasFormerNames }

  /// Whether fields of the model refer to records.
  @inlinable var hasReferences: Bool { storage.hasReferences }

  /// The schema, and what the code says of the model's past.
  package var declaration: ModelDeclaration {
    get throws {
      var declaration = try ModelDeclaration(model, formerNames: storage.formerNames, fields: storage.pasts)
      declaration.references = storage.references
      return declaration
    }
  }

  /// The stored name of a property; nil if the key path is not a stored property.
  ///
  /// - Complexity: Constant.
  public func name(of keyPath: AnyKeyPath) -> String? {
    storage.knownNames.name(of: keyPath) { storage.names[$0] }
  }

  /// The property with a stored name; nil if there is none.
  package func keyPath(of name: String) -> PartialKeyPath<Model>? {
    storage.names.first { StoredName($0.value) == StoredName(name) }?.key as? PartialKeyPath<Model>
  }

  /// The schema of a generic model, created once for each specialization.
  ///
  /// A generic type cannot have a stored static property, so its computed `schema` calls this method.
  ///
  /// - Parameters:
  ///   - type: The model's type.
  ///   - make: Creates the schema.
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
    /// The schema, if it is valid.
    @usableFromInline let valid: ModelSchema?
    let model: String
    let names: [AnyKeyPath: String]
    let knownNames = KeyPathNames()
    let documents: [DocumentField]
    let known = Mutex(KnownPlaces())
    let formerNames: [String]
    @usableFromInline let hasFormerNames: Bool
    let pasts: [ModelDeclaration.Field]
    @usableFromInline let hasReferences: Bool
    let references: [DeclaredReference]
    /// The models that the references refer to.
    let targets: [any PersistentRecord.Type]

    init(
      _ name: String, was formerNames: [String] = [], fields: [RecordField<Model>],
      key: [PartialKeyPath<Model>],
      indexes: [RecordIndex<Model>], isOurs: Bool = false
    ) {
      var names: [AnyKeyPath: String] = [:]
      for field in fields { names[field.keyPath] = field.schema.name }
      model = name
      self.names = names
      documents = fields.compactMap { field in
        field.document.map { DocumentField(name: field.schema.name, keyPath: field.keyPath, type: $0) }
      }
      self.formerNames = formerNames
      hasFormerNames = !formerNames.isEmpty
      pasts = fields.map(\.past)
      references = fields.compactMap { field in
        guard let (target, rule) = field.reference else { return nil }
        return DeclaredReference(field: field.schema.name, rule: rule) { try target.declaration }
      }
      targets = fields.compactMap { $0.reference?.target }
      hasReferences = !references.isEmpty
      func stored(_ keyPath: PartialKeyPath<Model>) throws -> String {
        guard let stored = names[keyPath] else {
          throw PersistenceError.invalidSchema(name, "\(keyPath) is not a stored property")
        }
        return stored
      }
      do {
        if let refusal = fields.lazy.compactMap(\.refusal).first {
          throw PersistenceError.invalidSchema(name, refusal)
        }
        guard isOurs || !ReservedModel.isReserved(name) else {
          throw PersistenceError.invalidSchema(
            name, "names that begin with “\(ReservedModel.prefix)” are reserved; choose another name")
        }
        let key = try key.map(stored)
        var indexes = try indexes.map { IndexSchema(try $0.keyPaths.map(stored), isUnique: $0.isUnique) }
        // Deletes of targets look for their referrers (contract L4).
        for field in fields.filter({ $0.reference != nil }).map(\.schema.name)
        where !([key] + indexes.map(\.fields)).contains(where: { StoredName($0[0]) == StoredName(field) }) {
          indexes.append(IndexSchema([field]))
        }
        let made = try ModelSchema(name: name, fields: fields.map(\.schema), key: key, indexes: indexes)
        schema = .success(made)
        valid = made
      } catch let error as PersistenceError {
        schema = .failure(error)
        valid = nil
      } catch {
        schema = .failure(PersistenceError.invalidSchema(name, "\(error)"))
        valid = nil
      }
    }
  }
}

private let sharedSchemas = Mutex<[ObjectIdentifier: any Sendable]>([:])
