import PersistenceDriver

/// The position of a model's build of waiting indexes: every record up to it has its entries.
///
/// Writes maintain the entries of the record that they write, wherever the build is. So the build adds each entry once
/// more at worst, and any transaction of any process can continue it.
struct BuildBookmark {
  /// The number of records that the build has read.
  var done = 0
  /// The stored key of the last record; empty before the first.
  var last: [UInt8] = []

  /// The key in the catalog.
  static func key(_ model: UInt16) -> [UInt8] { Array("build".utf8) + KeyPrefix.model(model) }

  init() {}

  init(of model: StoredModel, _ reader: any ByteReader) throws {
    try Self.key(model.number).withUnsafeBytes { key in
      guard let value = try reader.value(of: key, in: .catalog) else { return }
      guard let done = Catalog.number(in: value) else {
        throw PersistenceError.damaged("the position of an index build is malformed")
          .at(model: model.schema.name)
      }
      (self.done, last) = (Int(done), [UInt8](value[8...]))
    }
  }

  func write(_ model: StoredModel, _ writer: any ByteWriter) throws {
    let bytes = withUnsafeBytes(of: UInt64(done).bigEndian) { Array($0) } + last
    try Self.key(model.number).withUnsafeBytes { key in
      try writer.reserve(key, count: bytes.count, in: .catalog, isReplacing: true)?.copyBytes(from: bytes)
    }
  }

  static func remove(_ model: StoredModel, _ writer: any ByteWriter) throws {
    _ = try key(model.number).withUnsafeBytes { try writer.remove($0, in: .catalog) }
  }
}

extension KeyValueTransaction {
  /// The records of one transaction of a build, so that other writers wait for some tens of milliseconds only.
  private static var recordLimit: Int { 10_000 }
  /// The most memory for the entries of one transaction, in bytes.
  private static var entryMemory: Int { 8 << 20 }

  /// Adds the entries of the next records to a model's waiting indexes; returns whether all are built.
  func addWaitingEntries(_ binding: ModelBinding) throws -> Bool {
    guard let evolution = binding.model.evolution, !evolution.waiting.isEmpty else { return true }
    let indexes = zip(binding.storedIndexes, evolution.indexNumbers).compactMap {
      evolution.waiting.contains($1) ? $0 : nil
    }
    var bookmark = try store.located { try BuildBookmark(of: binding.model, writer) }
    var batch = EntryBatch(limit: min(store.indexBuilding.memory, Self.entryMemory))
    let isFinished = try collect(indexes, of: binding, &bookmark, &batch)
    try flushTally()
    try attempt {
      batch.sort()
      try batch.forEach { key, value in
        try writer.reserve(key, count: value.count, in: .indexes, isReplacing: true)?.copyMemory(from: value)
      }
      if isFinished {
        try BuildBookmark.remove(binding.model, writer)
      } else {
        try bookmark.write(binding.model, writer)
      }
    }
    if isFinished { try setBuilt(binding.model, evolution) }
    return isFinished
  }

  /// Collects entries from the bookmark on, until the batch is full; returns whether it reached the last record.
  private func collect(
    _ indexes: [ModelBinding.Index], of binding: ModelBinding, _ bookmark: inout BuildBookmark,
    _ batch: inout EntryBatch
  ) throws -> Bool {
    let form = KeyForm.entries(longest: writer.longestKey)
    let access = RecordAccess(binding, writer, location: store.location)
    let row = writer.workspace.acquireRow(binding.layout.count)
    let (key, value) = (writer.workspace.acquireBuffer(), writer.workspace.acquireBuffer())
    let cursor = try writer.acquireCursor(in: .records)
    defer {
      writer.release(cursor)
      writer.workspace.release(row)
      writer.workspace.release(key)
      writer.workspace.release(value)
    }
    let end = bookmark.done + Self.recordLimit
    return try binding.prefix.withUnsafeBytes { prefix in
      var next = try bookmark.last.withUnsafeBytes { try cursor.seek($0.isEmpty ? prefix : $0) }
      if let entry = next, !bookmark.last.isEmpty, entry.key.elementsEqual(bookmark.last) {
        next = try cursor.next()
      }
      while let record = next, ByteOrder.begins(record.key, with: prefix) {
        guard bookmark.done < end, !batch.isFull else { return false }
        try StoreProgress.report(bookmark.done)
        try access.fill(row, from: record, only: binding.entryPositions)
        try row.withRow { row in
          for index in indexes {
            key.clear()
            value.clear()
            let split = try binding.appendEntry(of: row, in: index, to: key)
            if form.storeEntryKey(key, split: split) {
              value.append(record.key)
            } else {
              IndexEntry.append(split: split, to: value)
            }
            batch.add(key.bytes, value.bytes)
          }
        }
        bookmark.done += 1
        bookmark.last.removeAll(keepingCapacity: true)
        bookmark.last.append(contentsOf: record.key)
        next = try cursor.next()
      }
      return true
    }
  }

  /// Records that all indexes of a model are built, so that queries use them.
  private func setBuilt(_ model: StoredModel, _ evolution: ModelEvolution) throws {
    // A schema of its own has a new identity, by which caches detect the change.
    let schema = try ModelSchema(
      name: model.schema.name, fields: model.schema.fields, key: model.schema.key,
      indexes: model.schema.indexes)
    var built = StoredModel(number: model.number, schema: schema)
    built.evolution = ModelEvolution(
      revision: evolution.revision, earlier: evolution.earlier, indexNumbers: evolution.indexNumbers,
      recordsNumber: evolution.recordsNumber)
    try attempt { try Catalog.write(built, writer) }
    changes.models[StoredName(schema.name)] = built
    changes.generations += 1
    forgetBindings()
  }
}
