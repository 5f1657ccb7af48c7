import CLMDB
import PersistenceDriver
import PersistenceKeyValue

extension LMDBTransaction {
  func reserve(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace, isReplacing: Bool) throws
    -> UnsafeMutableRawBufferPointer?
  {
    var value = MDB_val(mv_size: count, mv_data: nil)
    guard try reserve(key, &value, in: space, isReplacing: isReplacing) else { return nil }
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  func insert(_ key: UnsafeRawBufferPointer, count: Int, in space: KeySpace) throws -> EntryInsertion {
    var value = MDB_val(mv_size: count, mv_data: nil)
    if try reserve(key, &value, in: space, isReplacing: false) {
      return .reserved(UnsafeMutableRawBufferPointer(start: value.mv_data, count: count))
    }
    // LMDB passes the existing value, unless the entry was to be the last one.
    if value.mv_data != nil { return .existing(value.bytes) }
    guard let found = try self.value(of: key, in: space) else {
      throw PersistenceError.damaged("the tree \(space.name) has keys that are out of order")
    }
    return .existing(found)
  }

  /// Adds or replaces an entry, and takes the memory of its value; returns false if there is one that is not to be replaced.
  private func reserve(
    _ key: UnsafeRawBufferPointer, _ value: inout MDB_val, in space: KeySpace, isReplacing: Bool
  ) throws -> Bool {
    if space == .indexes { try writePending() }
    var stored = MDB_val(key)
    let isGreatest = try isGreatest(key, in: space)
    let code =
      try isGreatest
      ? append(&stored, &value, in: space) : put(&stored, &value, in: space, isReplacing: isReplacing)
    if code == MDB_KEYEXIST { return false }
    try check(code, "write a record")
    commitsState = true
    if isGreatest { greatest.set(key, in: space) }
    return true
  }

  /// Whether a key is greater than all keys of its space, of which the greatest one is known from then on.
  private func isGreatest(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws -> Bool {
    if !greatest.isKnown(in: space) {
      let cursor = try acquireCursor(in: space)
      defer { release(cursor) }
      try greatest.set(cursor.last()?.key, in: space)
    }
    return greatest.isExceeded(by: key, in: space)
  }

  private func put(_ key: inout MDB_val, _ value: inout MDB_val, in space: KeySpace, isReplacing: Bool) throws
    -> Int32
  {
    endAppending(to: space)
    let flags = isReplacing ? MDB_RESERVE : MDB_RESERVE | MDB_NOOVERWRITE
    return mdb_put(try current(), handle.database(space), &key, &value, UInt32(flags))
  }

  /// Appends an entry; from the second record in a row on, with a cursor that stays at the last one and need not search for
  /// it.
  private func append(_ key: inout MDB_val, _ value: inout MDB_val, in space: KeySpace) throws -> Int32 {
    let flags = UInt32(MDB_RESERVE | MDB_APPEND)
    let transaction = try current()
    if space == .records {
      appends += 1
      if appends == 2 { try check(mdb_cursor_open(transaction, handle.records, &appender), "write a record") }
      if let appender { return mdb_cursor_put(appender, &key, &value, flags) }
    }
    return mdb_put(transaction, handle.database(space), &key, &value, flags)
  }

  /// Closes the cursor that appends, before any other change of the records.
  ///
  /// LMDB takes a cursor's word that it is at the end, also after a change without the cursor.
  func endAppending(to space: KeySpace = .records) {
    guard space == .records else { return }
    appends = 0
    guard let appender else { return }
    mdb_cursor_close(appender)
    self.appender = nil
  }
}
