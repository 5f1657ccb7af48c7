import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// The records of a model in the form after a change of schema, under a number to which no model refers yet.
///
/// Copying fills the pages of the store in order, and needs little memory if the store can commit early. Values that grow
/// in place would leave each page half empty, and all of them in memory.
struct RecordsCopy {
  /// The memory of the records between reading and writing, in bytes.
  private static let batchLimit = 256 << 10
  /// How many bytes are written between two early commits.
  ///
  /// Pages that are still in the processor's cache are written faster, while each commit waits for the disk.
  static let checkpointLimit = 6 << 20

  let change: SchemaChange
  let number: UInt16

  /// Whether another change has the same effect, if both come from the same rules.
  func serves(_ other: SchemaChange) -> Bool {
    change.stored == other.stored && change.target == other.target && change.sources == other.sources
      && change.computeSources == other.computeSources
  }

  /// Commits early, where the store can; the copy is removed if the transaction rolls back.
  @discardableResult
  static func checkpoint(_ writer: any ByteWriter) throws -> Bool {
    try writer.checkpoint { try Catalog.removeUnfinishedCopies($0) }
  }

  /// Copies all records.
  ///
  /// With a limit of bytes, the transaction has written nothing else, and commits as often, where the store can.
  func write(
    from old: ModelBinding, to new: ModelBinding, _ writer: any ByteWriter, location: String,
    checkpointLimit: Int?
  ) throws {
    try StoreProgress.report(0)
    let reader = ChangedRecords(change, from: old, to: new, location: location)
    var batch = EntryBatch(limit: Self.batchLimit)
    var (done, bytes) = (0, 0)
    while try reader.read(into: &batch, writer) {
      try writer.write(batch, in: .records)
      done += batch.count
      bytes += batch.byteCount
      try StoreProgress.report(done)
      guard let checkpointLimit, bytes >= checkpointLimit else { continue }
      if try Self.checkpoint(writer) { bytes = 0 }
    }
  }
}

/// Reads the records of a model in the form after a change, one batch after another.
private struct ChangedRecords {
  /// Callers of a change learn of its progress at least as often.
  private static let recordLimit = 1_000

  private let old: ModelBinding
  private let new: ModelBinding
  private let location: String
  private let change: RowChange
  /// The fields that the change adds, if it keeps the others as they are, so that a record is copied without decoding it.
  private let appended: AppendedFields?
  private let row: RowBuffer
  /// The fields from which the appended ones are computed; the others stay nil.
  private let sources: RowBuffer
  /// The key from which on records are read; empty if there are none.
  private let start = ByteBuffer()
  /// The key of the changed record.
  private let key = ByteBuffer()

  init(_ change: SchemaChange, from old: ModelBinding, to new: ModelBinding, location: String) {
    (self.old, self.new, self.location, self.change) = (old, new, location, RowChange(change))
    appended = AppendedFields(change, to: old.model.schema)
    row = RowBuffer(count: old.layout.count)
    sources = RowBuffer(count: old.layout.count)
    start.append(old.prefix)
  }

  /// Replaces the content of a batch by the next records; returns false if there are none.
  func read(into batch: inout EntryBatch, _ reader: any ByteReader) throws -> Bool {
    batch.removeAll()
    let access = RecordAccess(old, reader, location: location)
    if let appended {
      try fill(&batch, reader) { record, batch in
        if try !append(appended, to: record, &batch, access) { try add(record, to: &batch, access) }
      }
    } else {
      try fill(&batch, reader) { try add($0, to: &$1, access) }
    }
    return !batch.isEmpty
  }

  /// Adds the next records to a batch, each by a closure, for which ``key`` is set.
  @inline(__always)
  private func fill(
    _ batch: inout EntryBatch, _ reader: any ByteReader,
    _ add: (OrderedEntry, inout EntryBatch) throws -> Void
  ) throws {
    guard start.count > 0 else { return }
    let cursor = try reader.acquireCursor(in: .records)
    defer { reader.release(cursor) }
    try old.prefix.withUnsafeBytes { prefix in
      var next = try cursor.seek(start.bytes)
      start.clear()
      key.clear()
      key.append(new.prefix)
      let keyStart = key.count
      while let record = next, ByteOrder.begins(record.key, with: prefix) {
        guard batch.count < Self.recordLimit, !batch.isFull else { return start.append(record.key) }
        key.truncate(to: keyStart)
        key.append(UnsafeRawBufferPointer(rebasing: record.key[prefix.count...]))
        try add(record, &batch)
        next = try cursor.next()
      }
    }
  }

  /// Adds a copy of a record with further fields at the end; returns false if the record has an earlier revision.
  @inline(__always)
  private func append(
    _ fields: AppendedFields, to record: OrderedEntry, _ batch: inout EntryBatch, _ access: RecordAccess
  ) throws -> Bool {
    guard try access.fillChecked(sources, from: record, only: fields.sources) else { return false }
    try sources.withRow { stored in
      try fields.change.withRow(from: stored) { values in
        let count = try new.layout.length(of: record.value, in: old.layout, with: values)
        new.layout.pack(
          record.value, in: old.layout, with: values, into: batch.add(key.bytes, count: count))
      }
    }
    return true
  }

  /// Adds a record in its new form.
  @inline(__always)
  private func add(_ record: OrderedEntry, to batch: inout EntryBatch, _ access: RecordAccess) throws {
    try access.borrow(record, row) { stored in
      try change.withRow(from: stored) { row in
        new.layout.pack(row, into: batch.add(key.bytes, count: try new.layout.packedLength(of: row)))
      }
    }
  }
}

/// The fields of a change that follow all stored ones, which keep their form.
private struct AppendedFields {
  /// The positions of the stored fields from which they are computed.
  let sources: [Int]
  /// Makes rows of the fields.
  let change: RowChange

  /// The fields that a change of a stored schema appends; nil if it changes others.
  init?(_ change: SchemaChange, to stored: ModelSchema) {
    let count = stored.fields.count
    guard change.stored.fields.map({ StoredName($0.name) }) == stored.fields.map({ StoredName($0.name) }),
      change.sources.count > count
    else { return nil }
    for (position, source) in change.sources.enumerated() {
      if position < count {
        guard source == .field(position) else { return nil }
      } else if case .field = source {
        return nil
      }
    }
    sources = change.compute == nil ? [] : change.computeSources
    self.change = RowChange(change, from: count)
  }
}
