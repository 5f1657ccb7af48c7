import PersistenceDriver

/// A consistent view of an ordered byte store, as the rest of this module reads it.
///
/// LMDB implements it in place. Other engines implement ``OrderedReadTransaction``, which ``OrderedReader`` adapts.
/// Keys are ordered as unsigned bytes, and a key follows its own prefixes. One thread at a time uses a reader.
package protocol ByteReader: AnyObject {
  /// The longest key of the store in bytes; at least 128.
  var longestKey: Int { get }

  /// The version of the store that the reader sees; it grows with each commit. A writer has the version that
  /// it started from.
  var version: Int { get }

  /// Scratch memory for the reader's user.
  var workspace: KeyValueWorkspace { get }

  /// Whether borrowed bytes may move while a closure uses them, so that rows have to be copied.
  var copiesRows: Bool { get }

  /// Whether the entries of a cursor stay valid when it moves, as long as the snapshot lives or until the next write.
  ///
  /// Otherwise an entry is valid until its cursor moves, and a value until the next call of the reader.
  var keepsEntries: Bool { get }

  /// The value of a key.
  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer?

  /// A cursor; the caller returns it with ``release(_:)``.
  func acquireCursor(in space: KeySpace) throws -> any ByteCursor

  /// Returns a cursor for reuse.
  func release(_ cursor: any ByteCursor)
}

/// A cursor in one space of a byte store.
package protocol ByteCursor: AnyObject {
  /// Moves to the first entry whose key is not less than the given one.
  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry?

  /// Moves to the entry with exactly this key; fast if it is near the current position.
  func find(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry?

  /// Moves to the last entry.
  func last() throws -> OrderedEntry?

  /// Moves to the next entry.
  func next() throws -> OrderedEntry?

  /// Moves to the previous entry.
  func previous() throws -> OrderedEntry?

  /// Reads the entries after the current one, at most as many as the buffer holds; returns 0 at the end.
  func read(_ entries: UnsafeMutableBufferPointer<OrderedEntry>, isReversed: Bool) throws -> Int
}

extension ByteCursor {
  /// Moves to the last entry whose key is less than the given one.
  func last(before key: UnsafeRawBufferPointer) throws -> OrderedEntry? {
    try seek(key) == nil ? try last() : try previous()
  }

  package func read(_ entries: UnsafeMutableBufferPointer<OrderedEntry>, isReversed: Bool) throws -> Int {
    guard let entry = isReversed ? try previous() : try next(), !entries.isEmpty else { return 0 }
    entries[0] = entry
    return 1
  }
}

/// The result of adding an entry.
package enum EntryInsertion {
  /// The memory for the value, which the caller fills before any other call.
  case reserved(UnsafeMutableRawBufferPointer)
  /// The value of the entry that exists already, valid until the next write.
  case existing(UnsafeRawBufferPointer)
}

/// The writes of a transaction on a byte store.
package protocol ByteWriter: ByteReader {
  /// Whether the transaction has changed something, so that its commit makes a new state durable; false if the writer does
  /// not know.
  ///
  /// Then, and only then, a record need not be written that is stored with the same bytes already: an earlier transaction,
  /// possibly of another process, may have been less durable.
  var commitsState: Bool { get }

  /// Adds an entry, unless there is one with its key.
  func insert(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace) throws -> EntryInsertion

  /// Inserts an entry and returns the memory for its value, which the caller fills before any other call.
  ///
  /// - Returns: nil if an entry exists that is not to be replaced.
  func reserve(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace, isReplacing: Bool) throws
    -> UnsafeMutableRawBufferPointer?

  /// Inserts or replaces an entry. The store may defer the write until the next read of the space or the
  /// commit.
  ///
  /// A deferred write fails only then; the failure ends the transaction.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws

  /// Inserts or replaces the entries of a batch, whose keys are in order.
  func write(_ batch: EntryBatch, in space: KeySpace) throws

  /// Removes an entry; returns whether it existed.
  func remove(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws -> Bool

  /// Removes every entry whose key begins with the prefix, which is not empty.
  func removeAll(beginningWith prefix: UnsafeRawBufferPointer, in space: KeySpace) throws

  /// Runs a closure as a nested transaction, which rolls back if the closure throws.
  func nested(_ body: () throws -> Void) throws

  /// Commits what the transaction has written, and goes on as the only writer, so that a long transaction needs little
  /// memory.
  ///
  /// - Parameter undo: Removes what was committed early. The store calls it, in a transaction of its own, if this
  ///   transaction rolls back. It has no effect if the process ends before.
  /// - Returns: false if the store cannot commit early, or not inside a nested transaction. Nothing is committed then.
  /// - Throws: The error of the commit, after which the transaction can only roll back.
  func checkpoint(undo: @escaping (any ByteWriter) throws -> Void) throws -> Bool
}

extension ByteWriter {
  package var commitsState: Bool { false }

  package func insert(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace) throws -> EntryInsertion
  {
    if let memory = try reserve(key, count: count, in: space, isReplacing: false) { return .reserved(memory) }
    guard let value = try value(of: key, in: space) else {
      throw PersistenceError.damaged("an entry exists that cannot be found")
    }
    return .existing(value)
  }

  package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws
  {
    try reserve(key, count: value.count, in: space, isReplacing: true)?.copyMemory(from: value)
  }

  package func write(_ batch: EntryBatch, in space: KeySpace) throws {
    try batch.forEach { try put($0, $1, in: space) }
  }

  package func checkpoint(undo: @escaping (any ByteWriter) throws -> Void) throws -> Bool { false }
}

/// A source of readers: a snapshot, which admits one thread at a time, or a transaction.
package protocol ByteSource: AnyObject, Sendable {
  /// Runs a closure with the reader.
  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result
}

/// Scratch memory of one reader, so that reading a record allocates nothing.
package final class KeyValueWorkspace {
  @exclusivity(unchecked) private var rows: [RowBuffer] = []
  @exclusivity(unchecked) private var buffers: [ByteBuffer] = []
  /// Memory for entries that a cursor reads ahead; nil while a cursor uses it.
  @exclusivity(unchecked) private var entries: UnsafeMutableBufferPointer<OrderedEntry>?

  /// The binding that was used last; no other reader shares its reference counts.
  @exclusivity(unchecked) var binding: ModelBinding?
  /// The version of the store for which the binding is valid.
  @exclusivity(unchecked) var bindingVersion = -1

  /// The plans of requests that are answered in one pass.
  @exclusivity(unchecked) var directPlans = DirectPlans()

  /// Overrides the choice of plans; nil where the planner picks the cheapest.
  let planChooser: PlanChooser?

  package init(planChooser: PlanChooser? = nil) { self.planChooser = planChooser }

  deinit { entries?.deallocate() }

  /// A row buffer with a number of fields; the caller releases it.
  func acquireRow(_ count: Int) -> RowBuffer {
    if let last = rows.last, last.count == count {
      rows.removeLast()
      return last
    }
    guard let index = rows.firstIndex(where: { $0.count == count }) else { return RowBuffer(count: count) }
    return rows.remove(at: index)
  }

  func release(_ row: RowBuffer) {
    if rows.count >= 8 { rows.removeFirst() }
    rows.append(row)
  }

  /// An empty buffer; the caller releases it.
  func acquireBuffer() -> ByteBuffer { buffers.popLast() ?? ByteBuffer() }

  func release(_ buffer: consuming ByteBuffer) {
    buffer.clear()
    if buffers.count < 8 { buffers.append(buffer) }
  }

  /// Memory for the entries that a cursor reads ahead, which is not initialized; the caller releases it.
  func acquireEntries() -> UnsafeMutableBufferPointer<OrderedEntry> {
    guard let known = entries else { return .allocate(capacity: IndexCursor.longestStride) }
    entries = nil
    return known
  }

  func release(_ memory: UnsafeMutableBufferPointer<OrderedEntry>) {
    if entries == nil { entries = memory } else { memory.deallocate() }
  }
}
