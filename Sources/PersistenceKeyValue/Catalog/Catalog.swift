import PersistenceDriver

/// Reading and writing the catalog of a byte store.
package enum Catalog {
  private static let formatKey = Array("format".utf8)
  private static let generationKey = Array("drops".utf8)
  private static let lastKey = Array("last".utf8)
  private static let family = "persistence records "
  private static let format = Array("\(family)2".utf8)

  /// Marks an empty store as one of ours.
  package static func create(in writer: any ByteWriter) throws {
    try formatKey.withUnsafeBytes { key in
      try writer.reserve(key, count: format.count, in: .catalog, isReplacing: true)?.copyBytes(from: format)
    }
  }

  /// Makes sure that a store is one of ours.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notAStore``.
  package static func check(_ reader: any ByteReader, location: String) throws {
    let found = try formatKey.withUnsafeBytes { try reader.value(of: $0, in: .catalog).map([UInt8].init) }
    guard found != format else { return }
    let reason: String
    if let found, let number = Int(String(decoding: found.dropFirst(family.utf8.count), as: UTF8.self)),
      found.starts(with: family.utf8)
    {
      let other = number < 2 ? "an older" : "a newer"
      reason =
        "the store has the format \(number), which \(other) version of this package wrote; open it with that"
    } else {
      reason =
        "the file holds other data than a store of this package; nothing was changed; give another path"
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

  /// The model of a name; of the others nothing but their names is read.
  static func model(_ name: StoredName, _ reader: any ByteReader) throws -> StoredModel? {
    var model: StoredModel?
    try forEachModel(reader) { number, encoded in
      guard StoredName(try StoredModel.name(encoded: encoded)) == name else { return true }
      model = try StoredModel(number: number, encoded: encoded)
      return false
    }
    return model
  }

  /// Calls a closure with the number and the record of each model until it says false.
  private static func forEachModel(
    _ reader: any ByteReader, _ body: (UInt16, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let prefix = Array("model".utf8)
    let cursor = try reader.takeCursor(in: .catalog)
    defer { reader.giveBack(cursor) }
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

  /// How many records a model has.
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
    try StoredModel.countKey(model).withUnsafeBytes { key in
      try writer.reserve(key, count: 8, in: .catalog, isReplacing: true)?
        .storeBytes(of: UInt64(max(0, count)).bigEndian, as: UInt64.self)
    }
  }

  /// How often models were dropped, or the state of their indexes has changed: what tells a cache that it no longer
  /// speaks for the store.
  static func generation(_ reader: any ByteReader) throws -> UInt64 { try number(generationKey, reader) ?? 0 }

  static func setGeneration(_ generation: UInt64, _ writer: any ByteWriter) throws {
    try set(generation, generationKey, writer)
  }

  /// Removes a model's entry and its count; its number is not given to another, so that whoever still holds the model
  /// finds nothing rather than another's records.
  static func remove(_ model: StoredModel, _ writer: any ByteWriter) throws {
    try set(max(UInt64(model.number), try number(lastKey, writer) ?? 0), lastKey, writer)
    for key in [StoredModel.key(model.number), StoredModel.countKey(model.number)] {
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

  /// Enters a model under the next number.
  static func add(_ schema: ModelSchema, indexing: StoredModel.Indexing, _ writer: any ByteWriter) throws
    -> StoredModel
  {
    guard schema.indexes.count <= StoredModel.indexLimit else {
      throw PersistenceError.unsupported("keep more than \(StoredModel.indexLimit) indexes", by: "the store")
        .at(model: schema.name)
    }
    let last = max(try models(writer).last?.number ?? 0, UInt16(clamping: try number(lastKey, writer) ?? 0))
    guard last < UInt16.max else {
      throw PersistenceError.unsupported("keep more than \(UInt16.max) models", by: "the store")
        .at(model: schema.name)
    }
    let model = StoredModel(number: last + 1, schema: schema, indexing: indexing)
    try enter(model, writer)
    return model
  }

  /// Writes what is known of a model.
  static func enter(_ model: StoredModel, _ writer: any ByteWriter) throws {
    let record = try model.encoded()
    try StoredModel.key(model.number).withUnsafeBytes { key in
      try writer.reserve(key, count: record.count, in: .catalog, isReplacing: true)?.copyBytes(from: record)
    }
  }
}
