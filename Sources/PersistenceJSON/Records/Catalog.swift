import Foundation
import PersistenceDriver
import PersistencePrimitives
import Synchronization

/// The schemas of a store's models, as the file `catalog.json` holds them.
struct Catalog: Sendable {
  private static let format = "persistence-json"
  private static let version = 1

  /// One model: its schema, and the folder of its records.
  struct Model: Codable, Sendable {
    var schema: ModelSchema
    var folder: String
  }

  private var models: [StoredName: Model] = [:]
  private let agreements = Agreements()

  /// The folders of dropped models, which contain files until the commit.
  private(set) var leftFolders: Set<String> = []

  private struct Content: Codable {
    var format: String
    var version: Int
    var models: [Model]
  }

  init() {}

  /// Reads the catalog of a source; it is empty before the first commit.
  init(_ source: some RecordSource) throws {
    guard let text = try source.read(StoreFolder.catalogName, in: StoreFolder.controlName) else { return }
    let content: Content
    do {
      content = try JSONDecoder().decode(Content.self, from: Data(text.bytes))
    } catch {
      throw PersistenceError.damaged("the store's \(StoreFolder.catalogName) is damaged: \(error)")
    }
    guard content.format == Self.format, content.version == Self.version else {
      throw PersistenceError(
        .notAStore,
        "the store's format is \(content.format) \(content.version), this library reads \(Self.format) "
          + "\(Self.version); use a newer version of it")
    }
    for model in content.models {
      guard FileName.isFolder(model.folder) else {
        throw PersistenceError.damaged(
          "the store's \(StoreFolder.catalogName) names a folder outside the store")
      }
      models[StoredName(model.schema.name)] = model
    }
  }

  /// The schemas, sorted by name.
  var schemas: [ModelSchema] { models.sorted { $0.key < $1.key }.map(\.value.schema) }

  /// The folder of a model's records; nil if the store does not have the model.
  ///
  /// - Throws: ``PersistenceError`` with code `schemaMismatch` if the store has another declaration of the
  ///   model.
  func folder(of schema: ModelSchema, location: String) throws -> String? {
    guard let stored = models[StoredName(schema.name)] else { return nil }
    try agreements.require(schema, stored.schema, location: location)
    return stored.folder
  }

  /// Adds a model; returns whether it was new.
  mutating func define(_ schema: ModelSchema, location: String) throws -> Bool {
    guard try folder(of: schema, location: location) == nil else { return false }
    let folder = FileName.folder(for: schema.name, besides: models.values.map(\.folder) + leftFolders)
    models[StoredName(schema.name)] = Model(schema: schema, folder: folder)
    return true
  }

  /// Removes a model.
  mutating func remove(_ schema: ModelSchema) {
    guard let model = models.removeValue(forKey: StoredName(schema.name)) else { return }
    leftFolders.insert(model.folder)
  }

  /// The catalog's text.
  func text() throws -> [UInt8] {
    do {
      let data = try JSONEncoder().encode(
        Content(
          format: Self.format, version: Self.version, models: models.sorted { $0.key < $1.key }.map(\.value)))
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
