import CLMDB
import PersistenceDriver
import PersistenceKeyValue

/// A transaction for writing, of the thread that began it.
final class LMDBTransaction: ByteWriter {
  let handle: LMDBHandle
  let workspace: KeyValueWorkspace
  let longestKey: Int
  let version: Int
  /// What is lent lies in pages that the next write may move.
  var lendsCopies: Bool { true }

  @exclusivity(unchecked) private var transaction: OpaquePointer?
  @exclusivity(unchecked) private var cursors: [LMDBCursor] = []
  /// The greatest key of each space, where it is known: a greater one is appended without a search.
  let greatest = [ByteBuffer(), ByteBuffer(), ByteBuffer()]
  /// The spaces whose greatest key is known, a bit for each.
  @exclusivity(unchecked) var known = 0
  /// Index entries to be written; only for those does it matter.
  @exclusivity(unchecked) var pending = EntryBatch(limit: 32 << 20)
  /// What writing them failed with, after which nothing can be committed.
  @exclusivity(unchecked) var failure: (any Error)?

  /// Begins a transaction; other processes have been kept out already.
  init(_ handle: LMDBHandle, _ synchronization: LMDBConfiguration.Synchronization) throws {
    self.handle = handle
    workspace = KeyValueWorkspace(dice: handle.dice)
    longestKey = Int(mdb_env_get_maxkeysize(handle.environment))
    let flags: Int32 =
      switch synchronization {
      case .full: 0
      case .last: MDB_NOMETASYNC
      case .off: MDB_NOSYNC
      }
    try LMDBFailure.check(
      mdb_txn_begin(handle.environment, nil, UInt32(flags), &transaction), "begin to write")
    // Its own number is that of the state that it will make.
    version = mdb_txn_id(transaction) - 1
  }

  /// Commits, which ends the transaction in any case.
  func commit() throws {
    try writePending()
    let transaction = try current()
    closeCursors()
    self.transaction = nil
    try check(mdb_txn_commit(transaction), "commit")
  }

  /// Undoes everything, where it has not ended.
  func abort() {
    closeCursors()
    if let transaction { mdb_txn_abort(transaction) }
    transaction = nil
  }

  func current() throws -> OpaquePointer {
    guard let transaction else { throw PersistenceError.closed("the transaction") }
    return transaction
  }

  func check(_ code: Int32, _ action: @autoclosure () -> String) throws {
    if code != MDB_SUCCESS {
      throw LMDBFailure(code: code, action: action()).error(mapSize: handle.mapSize)
    }
  }

  private func closeCursors() {
    for cursor in cursors { cursor.close() }
    cursors.removeAll()
  }
}

extension LMDBTransaction {
  func value(of key: UnsafeRawBufferPointer, in space: ByteSpace) throws -> UnsafeRawBufferPointer? {
    if space == .indexes { try writePending() }
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(try current(), handle.database(space), &key, &value)
    if code == MDB_SUCCESS { return value.bytes }
    if code == MDB_NOTFOUND { return nil }
    throw LMDBFailure(code: code, action: "read the store").error()
  }

  /// Cursors are closed with the transaction at the latest, by LMDB's rules before it.
  func takeCursor(in space: ByteSpace) throws -> any ByteCursor {
    if space == .indexes { try writePending() }
    let cursor = try LMDBCursor(try current(), handle.database(space), space, generation: 0)
    cursors.append(cursor)
    return cursor
  }

  func giveBack(_ cursor: any ByteCursor) {
    guard let index = cursors.lastIndex(where: { $0 === cursor }) else { return }
    cursors.remove(at: index).close()
  }

  func reserve(_ key: UnsafeRawBufferPointer, count: Int, in space: ByteSpace, isReplacing: Bool) throws
    -> UnsafeMutableRawBufferPointer?
  {
    let transaction = try current()
    if space == .indexes { try writePending() }
    var flags = MDB_RESERVE
    let last = greatest[space.rawValue]
    let isGreatest = try isGreatest(key, last, in: space)
    if isGreatest {
      flags |= MDB_APPEND
    } else if !isReplacing {
      flags |= MDB_NOOVERWRITE
    }
    var stored = MDB_val(key)
    var value = MDB_val(mv_size: count, mv_data: nil)
    let code = mdb_put(transaction, handle.database(space), &stored, &value, UInt32(flags))
    if code == MDB_KEYEXIST { return nil }
    try check(code, "write a record")
    if isGreatest {
      last.clear()
      last.append(key)
    }
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  func remove(_ key: UnsafeRawBufferPointer, in space: ByteSpace) throws -> Bool {
    let transaction = try current()
    if space == .indexes { try writePending() }
    known &= ~(1 << space.rawValue)
    var stored = MDB_val(key)
    let code = mdb_del(transaction, handle.database(space), &stored, nil)
    if code == MDB_NOTFOUND { return false }
    try check(code, "delete a record")
    return true
  }

  func removeAll(beginningWith prefix: UnsafeRawBufferPointer, in space: ByteSpace) throws {
    if space == .indexes { try writePending() }
    known &= ~(1 << space.rawValue)
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(try current(), handle.database(space), &cursor), "delete records")
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val(prefix)
    var value = MDB_val()
    var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    while code == MDB_SUCCESS, key.bytes.starts(with: prefix) {
      try check(mdb_cursor_del(cursor, 0), "delete records")
      // After a deletion the next entry is the one that took the place.
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if code != MDB_NOTFOUND { try check(code, "delete records") }
  }

  /// Whether a key is greater than every one of its space, the greatest of which is kept in the buffer.
  private func isGreatest(_ key: UnsafeRawBufferPointer, _ buffer: ByteBuffer, in space: ByteSpace) throws
    -> Bool
  {
    if known & 1 << space.rawValue == 0 {
      let cursor = try takeCursor(in: space)
      defer { giveBack(cursor) }
      buffer.clear()
      if let last = try cursor.last() { buffer.append(last.key) }
      known |= 1 << space.rawValue
    }
    return TotalOrder.compare(key, buffer.bytes) > 0
  }

  /// A child transaction of LMDB, during which the parent is not touched.
  func nested(_ body: () throws -> Void) throws {
    try writePending()
    let parent = try current()
    closeCursors()
    var child: OpaquePointer?
    try check(mdb_txn_begin(handle.environment, parent, 0, &child), "begin a nested transaction")
    transaction = child
    known = 0
    do {
      try body()
      try writePending()
    } catch {
      pending.removeAll()
      closeCursors()
      mdb_txn_abort(child)
      transaction = parent
      known = 0
      // What failed within the child is undone with it.
      failure = nil
      throw error
    }
    closeCursors()
    transaction = parent
    try check(mdb_txn_commit(child), "finish a nested transaction")
  }
}
