import PersistenceDriver
import PersistenceDriverSupport

/// The catalog of a byte store: its format, its models, and the number of records of each.
///
/// The JSON engine has a `Catalog` of its own, which is a directory of schema files.
package enum Catalog {
  private static let formatKey = Array("format".utf8)
  private static let generationKey = Array("drops".utf8)
  private static let lastKey = Array("last".utf8)
  private static let family = "persistence records "
  private static let format = Array("\(family)2".utf8)
  /// The format of a store in which a schema has changed, which earlier versions of this package cannot read.
  private static let evolvedFormat = Array("\(family)3".utf8)

  /// Writes the format marker to an empty store.
  package static func create(in writer: any ByteWriter) throws { try set(format, writer) }

  /// Writes the format marker if the store has none, as before its first write.
  static func markIfNew(in transaction: any OrderedWriteTransaction) throws {
    try formatKey.withUnsafeBytes { key in
      guard try transaction.value(of: key, in: .catalog) == nil else { return }
      try format.withUnsafeBytes { try transaction.put(key, $0, in: .catalog) }
    }
  }

  /// Whether the store contains nothing, not even the format marker.
  static func isNew(_ reader: any ByteReader) throws -> Bool {
    for space in KeySpace.allCases {
      let cursor = try reader.acquireCursor(in: space)
      defer { reader.release(cursor) }
      guard try cursor.last() == nil else { return false }
    }
    return true
  }

  /// Marks the store as one in which a schema has changed.
  static func setEvolved(_ writer: any ByteWriter) throws { try set(evolvedFormat, writer) }

  private static func set(_ format: [UInt8], _ writer: any ByteWriter) throws {
    try formatKey.withUnsafeBytes { key in
      try writer.reserve(key, count: format.count, in: .catalog, isReplacing: true)?.copyBytes(from: format)
    }
  }

  /// Throws ``PersistenceError/Code/notAStore`` unless the store has this format.
  package static func check(_ reader: any ByteReader, location: String) throws {
    let found = try formatKey.withUnsafeBytes { try reader.value(of: $0, in: .catalog).map([UInt8].init) }
    guard found != format, found != evolvedFormat else { return }
    let reason: String
    if let found, let number = Int(String(decoding: found.dropFirst(family.utf8.count), as: UTF8.self)),
      found.starts(with: family.utf8)
    {
      let other = number < 2 ? "an older" : "a newer"
      reason =
        "the store has format \(number), written by \(other) version of this package; open it with that version"
    } else {
      reason =
        "the file contains data that this package did not write; it was not changed; use another path"
    }
    throw PersistenceError(.notAStore, reason, location: location)
  }

  /// All models, in the order of their numbers.
  static func models(_ reader: any ByteReader) throws -> [StoredModel] {
    var models: [StoredModel] = []
    try forEachModel(reader) { number, encoded in
      models.append(try StoredModel(number: number, encoded: encoded))
      return true
    }
    return models
  }

  /// The model with a name; of other models, only the name is decoded.
  static func model(_ name: StoredName, _ reader: any ByteReader) throws -> StoredModel? {
    var model: StoredModel?
    try forEachModel(reader) { number, encoded in
      guard StoredName(try StoredModel.name(encoded: encoded)) == name else { return true }
      model = try StoredModel(number: number, encoded: encoded)
      return false
    }
    return model
  }

  /// Calls a closure with the number and the record of each model until it returns false.
  private static func forEachModel(
    _ reader: any ByteReader, _ body: (UInt16, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let prefix = Array("model".utf8)
    let cursor = try reader.acquireCursor(in: .catalog)
    defer { reader.release(cursor) }
    try prefix.withUnsafeBytes { prefix in
      var entry = try cursor.seek(prefix)
      while let found = entry, ByteOrder.begins(found.key, with: prefix) {
        guard found.key.count == prefix.count + 2 else {
          throw PersistenceError.damaged("a key in the catalog is malformed")
        }
        let number = UInt16(found.key[prefix.count]) << 8 | UInt16(found.key[prefix.count + 1])
        guard try body(number, found.value) else { return }
        entry = try cursor.next()
      }
    }
  }

  /// Whether the reader's version contains a model.
  static func contains(_ model: StoredModel, _ reader: any ByteReader) throws -> Bool {
    try StoredModel.key(model.number).withUnsafeBytes { try reader.value(of: $0, in: .catalog) != nil }
  }

  /// The number of records of a model.
  static func count(of model: StoredModel, _ reader: any ByteReader) throws -> Int {
    try StoredModel.countKey(model.number).withUnsafeBytes { key in
      guard let value = try reader.value(of: key, in: .catalog) else { return 0 }
      guard value.count == 8,
        let count = Int(exactly: UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)))
      else {
        throw PersistenceError.damaged("the number of records in the catalog is malformed")
          .at(model: model.schema.name)
      }
      return count
    }
  }

  static func setCount(_ count: Int, of model: UInt16, _ writer: any ByteWriter) throws {
    try set(UInt64(max(0, count)), StoredModel.countKey(model), writer)
  }

  /// The number of drops, changes of schema and of index builds, by which a cache detects that it is stale.
  static func generation(_ reader: any ByteReader) throws -> UInt64 { try number(generationKey, reader) ?? 0 }

  static func setGeneration(_ generation: UInt64, _ writer: any ByteWriter) throws {
    try set(generation, generationKey, writer)
  }

  /// Removes a model's entry and its count.
  ///
  /// Its number is never reused, so a stale binding finds no records of another model.
  static func remove(_ model: StoredModel, _ writer: any ByteWriter) throws {
    try set(max(UInt64(model.number), try number(lastKey, writer) ?? 0), lastKey, writer)
    for key in [
      StoredModel.key(model.number), StoredModel.countKey(model.number), BuildBookmark.key(model.number),
    ] {
      _ = try key.withUnsafeBytes { try writer.remove($0, in: .catalog) }
    }
  }

  private static func number(_ key: [UInt8], _ reader: any ByteReader) throws -> UInt64? {
    try key.withUnsafeBytes { key in
      guard let value = try reader.value(of: key, in: .catalog) else { return nil }
      guard value.count == 8 else { throw PersistenceError.damaged("a number in the catalog is malformed") }
      return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }
  }

  private static func set(_ number: UInt64, _ key: [UInt8], _ writer: any ByteWriter) throws {
    try key.withUnsafeBytes { key in
      try writer.reserve(key, count: 8, in: .catalog, isReplacing: true)?
        .storeBytes(of: number.bigEndian, as: UInt64.self)
    }
  }

  /// Adds a model with the next number.
  static func add(_ schema: ModelSchema, indexing: StoredModel.Indexing, _ writer: any ByteWriter) throws
    -> StoredModel
  {
    try requireIndexLimit(schema)
    let last = max(try models(writer).last?.number ?? 0, UInt16(clamping: try number(lastKey, writer) ?? 0))
    guard last < UInt16.max else {
      throw PersistenceError.unsupported("keep more than \(UInt16.max) models", by: "the store")
        .at(model: schema.name)
    }
    let model = StoredModel(number: last + 1, schema: schema, indexing: indexing)
    try write(model, writer)
    return model
  }

  /// Throws if a schema has more indexes than their keys can number.
  static func requireIndexLimit(_ schema: ModelSchema) throws {
    guard schema.indexes.count <= StoredModel.indexLimit else {
      throw PersistenceError.unsupported("keep more than \(StoredModel.indexLimit) indexes", by: "the store")
        .at(model: schema.name)
    }
  }

  /// Writes the record of a model.
  static func write(_ model: StoredModel, _ writer: any ByteWriter) throws {
    let record = try model.encoded()
    try StoredModel.key(model.number).withUnsafeBytes { key in
      try writer.reserve(key, count: record.count, in: .catalog, isReplacing: true)?.copyBytes(from: record)
    }
  }
}

/// A cache of a store's models, so that a request does not read the catalog.
///
/// A model that was read stays valid in every other version as long as models are only added; in an earlier
/// version it has no records. A drop, a change of schema or an index build ends that. The catalog therefore counts
/// them as its *generation*, and the cache is valid for the newest generation that it has seen. It knows the versions of
/// that generation as a range, so most readers need not read the generation.
///
/// Each reader keeps the binding that it used last. Concurrent readers therefore share no lock or reference
/// count between commits.
final class CatalogCache: Sendable {
  private struct State {
    var models: [StoredName: StoredModel] = [:]
    /// Reserved names of models that the generation lacks; defining one of them begins another generation.
    var absent: [StoredName] = []
    /// The bindings retain their declared schemas, so the identities stay unique.
    var bindings: [ObjectIdentifier: ModelBinding] = [:]
    /// The binding that was requested last, which is often requested again.
    var latest: ModelBinding?
    var generation: UInt64 = 0
    /// The oldest and the newest version known to have that generation.
    var versions: ClosedRange<Int>?
  }

  private static let bindingLimit = 512

  private let state = Lock(State())

  /// The cached binding of a declared schema, if the cache is valid for a version of the store.
  func binding(_ schema: ModelSchema, version: Int) -> ModelBinding? {
    let identity = schema.identity
    return state.withLock { state in
      guard let versions = state.versions, versions.contains(version) else { return nil }
      if let latest = state.latest, latest.declared.identity == identity { return latest }
      guard let found = state.bindings[identity] else { return nil }
      state.latest = found
      return found
    }
  }

  /// The cached binding of a declared schema as a copy for the reader, if the cache is valid for its version.
  func binding(_ schema: ModelSchema, for reader: any ByteReader) -> ModelBinding? {
    let (workspace, version) = (reader.workspace, reader.version)
    let own = workspace.binding.flatMap { $0.declared.identity == schema.identity ? $0 : nil }
    if let own, workspace.bindingVersion == version { return own }
    guard let shared = binding(schema, version: version) else { return nil }
    workspace.bindingVersion = version
    // A model that was dropped and defined again has another number, possibly with the same schema.
    if let own, own.model.number == shared.model.number,
      own.model.schema.identity == shared.model.schema.identity, own.model.indexing == shared.model.indexing
    {
      return own
    }
    let copy = ModelBinding(shared.model, declared: shared.declared)
    workspace.binding = copy
    return copy
  }

  /// Records the generation of a version; returns false if the cache has a newer one.
  func record(_ version: Int, isOf generation: UInt64) -> Bool {
    state.withLock { state in
      guard generation >= state.generation else { return false }
      if generation > state.generation {
        state = State(generation: generation, versions: version...version)
      } else if let known = state.versions {
        state.versions = min(known.lowerBound, version)...max(known.upperBound, version)
      } else {
        state.versions = version...version
      }
      return true
    }
  }

  /// Records that the next version has the same generation.
  func recordSuccessor(of version: Int) {
    state.withLock { state in
      guard let known = state.versions, known.contains(version) else { return }
      state.versions = known.lowerBound...max(known.upperBound, version + 1)
    }
  }

  /// A cached model of the current generation.
  func model(_ name: StoredName) -> StoredModel? { state.withLock { $0.models[name] } }

  /// Whether a version of the store is known to lack a model with a reserved name.
  func lacks(_ name: StoredName, version: Int) -> Bool {
    state.withLock { state in
      guard !state.absent.isEmpty, let versions = state.versions, versions.contains(version) else {
        return false
      }
      return state.absent.contains(name)
    }
  }

  /// Records that a generation lacks a model with a reserved name.
  func insert(absent name: StoredName, of generation: UInt64) {
    state.withLock { state in
      if state.generation == generation, !state.absent.contains(name) { state.absent.append(name) }
    }
  }

  /// Caches models unless their generation is stale.
  func insert(_ models: [StoredModel], of generation: UInt64) {
    state.withLock { state in
      guard state.generation == generation else { return }
      for model in models { state.models[StoredName(model.schema.name)] = model }
    }
  }

  /// Caches a binding unless its model's generation is stale.
  func insert(_ binding: ModelBinding, of generation: UInt64) {
    state.withLock { state in
      guard state.generation == generation else { return }
      if state.bindings.count >= Self.bindingLimit { state.bindings.removeAll() }
      state.bindings[binding.declared.identity] = binding
    }
  }
}
