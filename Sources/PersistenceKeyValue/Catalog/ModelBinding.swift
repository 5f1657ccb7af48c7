package import PersistenceDriver

/// A declared schema bound to the stored model of its name, with everything that reading and writing its
/// records needs.
package final class ModelBinding: Sendable {
  /// A secondary index with its encoding.
  ///
  /// A class, because each cursor keeps its path: a copy would count a reference for each list.
  final class Index: Sendable {
    let schema: IndexSchema
    /// The declared positions of its fields.
    let positions: [Int]
    /// The positions of its fields, and then of the primary key's: the components of its keys.
    let components: [Int]
    /// The prefix of all its entries.
    let prefix: [UInt8]

    init(_ schema: IndexSchema, in declared: ModelSchema, prefix: [UInt8]) {
      self.schema = schema
      positions = schema.fields.compactMap { declared.position(of: $0) }
      components = positions + declared.keyPositions
      self.prefix = prefix
    }
  }

  package let model: StoredModel
  package let declared: ModelSchema
  /// The identity of the declared schema.
  let identity: ObjectIdentifier
  let layout: RowLayout
  let keyPositions: [Int]
  /// The prefix of the keys of all records.
  let prefix: [UInt8]
  /// The prefix of the keys of all index entries.
  let indexesPrefix: [UInt8]
  /// The indexes in the order of the *stored* schema, which numbers their prefixes.
  let storedIndexes: [Index]
  /// The indexes that writes maintain: all of them, or none before a deferred build.
  let indexes: [Index]
  /// The indexes that queries can use: those with an entry for each record.
  let readable: [Index]
  /// The schemas of ``readable``.
  let readableIndexes: [IndexSchema]
  let hasUniqueIndex: Bool
  /// The positions of all fields that index entries contain.
  let entryPositions: [Int]
  /// The plans of earlier requests; a change of the indexes makes another binding.
  let knownPlans = KnownPlans()
  let keptSample = KeptSample()

  package init(_ model: StoredModel, declared: ModelSchema) {
    self.model = model
    self.declared = declared
    identity = declared.identity
    layout = RowLayout(of: model, declared: declared)
    keyPositions = declared.keyPositions
    prefix = model.recordsPrefix
    indexesPrefix = KeyPrefix.model(model.number)
    storedIndexes = model.schema.indexes.enumerated().map { number, index in
      Index(
        index, in: declared,
        prefix: KeyPrefix.index(model.number, model.evolution?.indexNumbers[number] ?? number))
    }
    indexes = model.indexing == .built ? storedIndexes : []
    if let evolution = model.evolution, !evolution.waiting.isEmpty {
      readable = zip(indexes, evolution.indexNumbers).compactMap {
        evolution.waiting.contains($1) ? nil : $0
      }
    } else {
      readable = indexes
    }
    readableIndexes = readable.map(\.schema)
    hasUniqueIndex = indexes.contains(where: \.schema.isUnique)
    entryPositions = Set(storedIndexes.flatMap(\.positions) + declared.keyPositions).sorted()
  }
}

extension ModelBinding {
  /// Whether an index is not built yet, so that an entry of it may be missing.
  func isWaiting(_ entryKey: [UInt8]) -> Bool {
    model.evolution?.waiting.contains(Int(entryKey[prefix.count]) - 1) ?? false
  }

  /// Appends the full key of a row's record.
  func appendKey(of row: borrowing Row, to key: ByteBuffer) throws {
    key.append(prefix)
    for position in keyPositions { try KeyCodec.append(cell: row[position], to: key) }
  }

  /// Appends the full key of a record.
  func appendKey(_ values: RecordKey, to key: ByteBuffer) throws {
    key.append(prefix)
    for value in values.values { try KeyCodec.append(value: value, to: key) }
  }

  /// Cuts the key of a record if it is too long.
  ///
  /// The digest is that of the key with the model's number, so that it stays when a change of schema copies the records.
  func storeRecordKey(_ key: ByteBuffer, longest: Int) {
    guard key.count >= longest else { return }
    key.replaceStart(by: indexesPrefix)
    KeyForm.records(longest: longest).storeRecordKey(key)
    key.replaceStart(by: prefix)
  }

  /// Appends the full key of a row's entry in an index; returns the offset of the primary key.
  func appendEntry(of row: borrowing Row, in index: Index, to key: ByteBuffer) throws -> Int {
    key.append(index.prefix)
    for position in index.positions { try KeyCodec.append(cell: row[position], to: key) }
    let split = key.count
    for position in keyPositions { try KeyCodec.append(cell: row[position], to: key) }
    return split
  }

  /// The primary key in a stored record key; nil if the key was cut.
  func recordKey(stored: UnsafeRawBufferPointer, form: KeyForm) -> RecordKey? {
    guard !form.isCut(stored), stored.count > prefix.count,
      let values = try? KeyCodec.values(in: UnsafeRawBufferPointer(rebasing: stored[prefix.count...]))
    else { return nil }
    return RecordKey(values)
  }
}
