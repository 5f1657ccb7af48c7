import PersistenceDriver
import PersistenceDriverSupport

/// The catalog of a byte store: its format, its models, and the number of records of each.
///
/// The JSON engine has a `Catalog` of its own, which is a directory of schema files.
package enum Catalog {
  private static let formatKey = Array("format".utf8)
  private static let generationKey = Array("drops".utf8)
  private static let lastKey = Array("last".utf8)
  /// The start of the key of an unfinished copy of records.
  private static let copyKey = Array("copy".utf8)
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

  /// The model with a name; nothing is decoded of other models.
  static func model(_ name: StoredName, _ reader: any ByteReader) throws -> StoredModel? {
    var model: StoredModel?
    try forEachModel(reader) { number, encoded in
      guard try StoredModel.isNamed(name.text, StoredModel.checked(encoded)) else { return true }
      model = try StoredModel(number: number, encoded: encoded)
      return false
    }
    return model
  }

  /// The model with the name of a schema; nothing is decoded if the store has the schema as it is.
  static func model(like schema: ModelSchema, _ reader: any ByteReader) throws -> StoredModel? {
    var model: StoredModel?
    try forEachModel(reader) { number, encoded in
      let values = try StoredModel.checked(encoded)
      guard try StoredModel.isNamed(schema.name, values) else { return true }
      model =
        try StoredModel.isUnchanged(schema, values)
        ? StoredModel(number: number, schema: schema) : StoredModel(number: number, encoded: encoded)
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
        guard try body(try modelNumber(in: found.key, after: prefix), found.value) else { return }
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
      guard value.count == 8, let count = number(in: value) else {
        throw PersistenceError.damaged("the number of records in the catalog is malformed")
          .at(model: model.schema.name)
      }
      return Int(count)
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
      guard value.count == 8, let found = number(in: value) else {
        throw PersistenceError.damaged("a number in the catalog is malformed")
      }
      return found
    }
  }

  /// The number in the first eight bytes of a value; nil if the value is shorter, or no store reaches the number.
  ///
  /// Numbers have no checksum, and additions to a larger one could overflow.
  static func number(in value: UnsafeRawBufferPointer) -> UInt64? {
    guard value.count >= 8 else { return nil }
    let number = UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    return number < 1 << 62 ? number : nil
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
    let model = StoredModel(number: try nextNumber(writer, for: schema), schema: schema, indexing: indexing)
    try write(model, writer)
    return model
  }

  /// A number that neither a model nor records have had before.
  private static func nextNumber(_ writer: any ByteWriter, for schema: ModelSchema) throws -> UInt16 {
    let last = max(try models(writer).last?.number ?? 0, UInt16(clamping: try number(lastKey, writer) ?? 0))
    guard last < UInt16.max else {
      throw PersistenceError.unsupported(
        "number more than \(UInt16.max) models and copies of their records", by: "the store"
      ).at(model: schema.name)
    }
    return last + 1
  }

  /// Reserves a number for copies of records, which are unfinished until ``finishCopy(_:_:)``.
  static func beginCopy(of schema: ModelSchema, _ writer: any ByteWriter) throws -> UInt16 {
    let number = try nextNumber(writer, for: schema)
    try set(UInt64(number), lastKey, writer)
    try set(0, copyKey + KeyPrefix.model(number), writer)
    return number
  }

  static func finishCopy(_ number: UInt16, _ writer: any ByteWriter) throws {
    _ = try (copyKey + KeyPrefix.model(number)).withUnsafeBytes { try writer.remove($0, in: .catalog) }
  }

  /// Removes the copies that nothing refers to, of this transaction and of processes that ended.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  static func removeUnfinishedCopies(_ writer: any ByteWriter) throws -> Bool {
    let numbers = try unfinishedCopies(writer)
    for number in numbers.reversed() {
      try KeyPrefix.model(number).withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .records) }
      try finishCopy(number, writer)
      // No binding has ever had the number, so changes that fail do not use numbers up.
      if try number > 0 && self.number(lastKey, writer) == UInt64(number) {
        try set(UInt64(number - 1), lastKey, writer)
      }
    }
    return !numbers.isEmpty
  }

  private static func unfinishedCopies(_ reader: any ByteReader) throws -> [UInt16] {
    var numbers: [UInt16] = []
    let cursor = try reader.acquireCursor(in: .catalog)
    defer { reader.release(cursor) }
    try copyKey.withUnsafeBytes { prefix in
      var entry = try cursor.seek(prefix)
      while let found = entry, ByteOrder.begins(found.key, with: prefix) {
        numbers.append(try modelNumber(in: found.key, after: prefix))
        entry = try cursor.next()
      }
    }
    return numbers
  }

  private static func modelNumber(in key: UnsafeRawBufferPointer, after prefix: UnsafeRawBufferPointer) throws
    -> UInt16
  {
    guard key.count == prefix.count + 2 else {
      throw PersistenceError.damaged("a key in the catalog is malformed")
    }
    return UInt16(key[prefix.count]) << 8 | UInt16(key[prefix.count + 1])
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
