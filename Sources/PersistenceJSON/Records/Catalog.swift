import Foundation
import PersistenceDriver
import PersistencePrimitives
import Synchronization

/// The schemas of a store's models, as the file `catalog.json` holds them.
struct Catalog: Sendable {
  private static let format = "persistence-json"
  /// The version of a store whose models have no past.
  private static let version = 1
  /// The version of a store with a model that has one.
  private static let evolvedVersion = 2

  /// One model: its schema, the folder of its records, and the past of its schema.
  struct Model: Codable, Sendable {
    var schema: ModelSchema
    var folder: String
    var past: ModelPast?
  }

  private var models: [StoredName: Model] = [:]
  private let agreements = Agreements()

  /// The folders of dropped models, which contain files until the commit.
  private(set) var leftFolders: Set<String> = []

  /// The folders whose committed files the transaction replaces, so that they do not match the schema.
  private(set) var rewrittenFolders: Set<String> = []

  private struct Content: Codable {
    var format: String
    var version: Int
    var models: [Model]
  }

  init() {}

  /// Reads the catalog of a source; it is empty before the first commit.
  init(_ source: some RecordSource) throws {
    guard let text = try source.read(StoreFolder.catalogName, in: StoreFolder.controlName) else {
      // Every commit before this version has left a catalog.
      guard try source.version == 0 else { throw Self.missing(at: source.store.location) }
      self.init()
      return
    }
    try self.init(text: text.bytes)
  }

  /// Reads the text of a catalog.
  init(text: [UInt8]) throws {
    let content: Content
    do {
      content = try JSONDecoder().decode(Content.self, from: Data(text))
    } catch {
      throw PersistenceError.damaged("the store's \(StoreFolder.catalogName) is damaged: \(error)")
    }
    guard content.format == Self.format, (Self.version...Self.evolvedVersion).contains(content.version)
    else {
      throw PersistenceError(
        .notAStore,
        "the store's format is \(content.format) \(content.version), this library reads \(Self.format) "
          + "\(Self.evolvedVersion); use a newer version of it")
    }
    for model in content.models {
      guard FileName.isFolder(model.folder) else {
        throw PersistenceError.damaged(
          "the store's \(StoreFolder.catalogName) names a folder outside the store")
      }
      guard model.past?.isPlausible(in: model.schema) ?? true else {
        throw PersistenceError.damaged(
          "the store's \(StoreFolder.catalogName) has invalid earlier names or values of \(model.schema.name)"
        )
      }
      models[StoredName(model.schema.name)] = model
    }
  }

  /// The error for a store that has records but no catalog.
  static func missing(at location: String) -> PersistenceError {
    let path = "\(StoreFolder.controlName)/\(StoreFolder.catalogName)"
    return PersistenceError(
      .damaged,
      "the file \(path) is missing beside the records of a store; nothing was changed; restore \(path) from a backup, "
        + "or remove the folder to begin an empty store", location: location)
  }

  /// The schemas, sorted by name.
  var schemas: [ModelSchema] { models.sorted { $0.key < $1.key }.map(\.value.schema) }

  /// A model's folder and past; nil if the store does not have the model.
  ///
  /// - Throws: ``PersistenceError`` with code `schemaMismatch` if the store has another declaration of the
  ///   model.
  func model(of schema: ModelSchema, location: String) throws -> Model? {
    guard let stored = models[StoredName(schema.name)] else { return nil }
    try agreements.require(schema, stored.schema, location: location)
    return stored
  }

  /// Adds a model; returns whether it was new.
  mutating func define(_ schema: ModelSchema, location: String) throws -> Bool {
    guard try model(of: schema, location: location) == nil else { return false }
    let folder = FileName.folder(for: schema.name, besides: models.values.map(\.folder) + leftFolders)
    models[StoredName(schema.name)] = Model(schema: schema, folder: folder)
    return true
  }

  mutating func remove(_ schema: ModelSchema) {
    guard let model = models.removeValue(forKey: StoredName(schema.name)) else { return }
    leftFolders.insert(model.folder)
  }

  /// The model that a change starts from.
  ///
  /// - Throws: ``PersistenceError`` with code `schemaMismatch` if the store does not have the model, has another
  ///   declaration of it, or already has a model of the new name.
  func model(for change: SchemaChange, location: String) throws -> Model {
    let (old, new) = (change.stored.name, change.target.name)
    guard let model = try model(of: change.stored, location: location) else {
      throw PersistenceError.schemaMismatch(
        model: old, location: location, differences: ["\(old): not in the store"])
    }
    guard StoredName(old) == StoredName(new) || models[StoredName(new)] == nil else {
      throw PersistenceError.schemaMismatch(
        model: new, location: location, differences: ["\(new): already in the store"])
    }
    return model
  }

  /// Replaces a model's schema; its records stay in their folder.
  mutating func replace(_ change: SchemaChange, past: ModelPast?, isRewritten: Bool = false) {
    guard let model = models.removeValue(forKey: StoredName(change.stored.name)) else { return }
    models[StoredName(change.target.name)] = Model(schema: change.target, folder: model.folder, past: past)
    if isRewritten { rewrittenFolders.insert(model.folder) }
  }

  func text() throws -> [UInt8] {
    let version = models.values.contains { $0.past != nil } ? Self.evolvedVersion : Self.version
    do {
      let data = try JSONEncoder().encode(
        Content(
          format: Self.format, version: version, models: models.sorted { $0.key < $1.key }.map(\.value)))
      return JSONText.pretty(try data.withUnsafeBytes { try JSONParser.parse($0) })
    } catch {
      throw PersistenceError(.encodingFailed, "the catalog could not be encoded: \(error)")
    }
  }
}

/// A cache of compatible declared and stored schemas, since comparing them costs more than a small read.
final class Agreements: Sendable {
  private static let limit = 64

  /// The cache retains both schemas, so that no other schema can get their identities.
  private let known = Mutex<[ObjectIdentifier: (declared: ModelSchema, stored: ModelSchema)]>([:])

  /// Checks that a declared schema is compatible with the stored one (contract E4).
  func require(_ declared: ModelSchema, _ stored: ModelSchema, location: String) throws {
    if known.withLock({ $0[declared.identity]?.stored.identity == stored.identity }) { return }
    try declared.requireCompatible(with: stored, location: location)
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll() }
      known[declared.identity] = (declared, stored)
    }
  }
}
