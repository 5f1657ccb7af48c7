import CLMDB
import PersistenceDriver
import PersistenceKeyValue

extension LMDBTransaction {
  /// Keeps index entries back, to write them in the order of their keys.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: ByteSpace) throws {
    guard space == .indexes else {
      try reserve(key, count: value.count, in: space, isReplacing: true)?.copyMemory(from: value)
      return
    }
    pending.add(key, value)
    if pending.isFull { try writePending() }
  }

  /// Writes the index entries that were kept back.
  func writePending() throws {
    if let failure { throw failure }
    guard !pending.isEmpty else { return }
    defer { pending.removeAll() }
    known &= ~(1 << ByteSpace.indexes.rawValue)
    do {
      var opened: OpaquePointer?
      try check(mdb_cursor_open(try current(), handle.indexes, &opened), "write an index entry")
      guard let cursor = opened else { return }
      defer { mdb_cursor_close(cursor) }
      let last = greatest[ByteSpace.indexes.rawValue]
      last.clear()
      var (key, value) = (MDB_val(), MDB_val())
      let code = mdb_cursor_get(cursor, &key, &value, MDB_LAST)
      if code == MDB_SUCCESS {
        last.append(key.bytes)
      } else if code != MDB_NOTFOUND {
        try check(code, "write an index entry")
      }
      var isBehindAll = false
      pending.sort()
      try pending.forEach { wanted, content in
        isBehindAll = isBehindAll || TotalOrder.compare(wanted, last.bytes) > 0
        var (key, value) = (MDB_val(wanted), MDB_val(content))
        try check(
          mdb_cursor_put(cursor, &key, &value, isBehindAll ? UInt32(MDB_APPEND) : 0), "write an index entry")
      }
    } catch {
      failure = error
      throw error
    }
  }
}
