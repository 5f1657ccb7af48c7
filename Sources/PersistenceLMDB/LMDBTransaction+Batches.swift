import CLMDB
import PersistenceDriver
import PersistenceKeyValue

extension LMDBTransaction {
  /// Buffers index entries, to write them in key order.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws {
    guard space == .indexes else {
      try reserve(key, count: value.count, in: space, isReplacing: true)?.copyMemory(from: value)
      return
    }
    pending.add(key, value)
    if pending.isFull { try writePending() }
  }

  /// Flushes the buffered index entries.
  func writePending() throws {
    if let failure { throw failure }
    guard !pending.isEmpty else { return }
    defer { pending.removeAll() }
    pending.sort()
    do { try append(pending, in: .indexes) } catch {
      failure = error
      throw error
    }
  }

  func write(_ batch: EntryBatch, in space: KeySpace) throws {
    if space == .indexes { try writePending() }
    try append(batch, in: space)
  }

  /// Writes sorted entries with one cursor, which need not search for the place of those behind all others.
  private func append(_ batch: EntryBatch, in space: KeySpace) throws {
    endAppending(to: space)
    defer { greatest.forget(in: space) }
    var opened: OpaquePointer?
    try check(mdb_cursor_open(try current(), handle.database(space), &opened), "write to the store")
    guard let cursor = opened else { return }
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    let code = mdb_cursor_get(cursor, &key, &value, MDB_LAST)
    if code != MDB_NOTFOUND { try check(code, "write to the store") }
    greatest.set(code == MDB_SUCCESS ? key.bytes : nil, in: space)
    var isGreatest = false
    try batch.forEach { wanted, content in
      isGreatest = isGreatest || greatest.isExceeded(by: wanted, in: space)
      var (key, value) = (MDB_val(wanted), MDB_val(content))
      try check(
        mdb_cursor_put(cursor, &key, &value, isGreatest ? UInt32(MDB_APPEND) : 0), "write to the store")
    }
  }
}
