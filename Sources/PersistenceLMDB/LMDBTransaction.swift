import CLMDB
import PersistenceDriver
import PersistenceKeyValue

/// A write transaction, which belongs to the thread that began it.
final class LMDBTransaction: ByteWriter {
  let handle: LMDBHandle
  let workspace: KeyValueWorkspace
  let longestKey: Int
  @exclusivity(unchecked) private(set) var version = 0
  /// Borrowed bytes lie in pages that the next write may move.
  var copiesRows: Bool { true }
  var keepsEntries: Bool { true }
  /// Whether the transaction has changed something, and LMDB thus writes and synchronizes a state.
  @exclusivity(unchecked) var commitsState = false

  @exclusivity(unchecked) private var transaction: OpaquePointer?
  @exclusivity(unchecked) private var cursors: [LMDBCursor] = []
  /// The greatest key of each space; a greater key is appended without a search.
  let greatest: LMDBGreatestKeys
  /// The cursor behind the last record, while records are appended.
  @exclusivity(unchecked) var appender: OpaquePointer?
  /// The number of records that were appended since the last other change of the records.
  @exclusivity(unchecked) var appends = 0
  /// Buffered index entries; LMDB writes them faster in key order.
  @exclusivity(unchecked) var pending = EntryBatch(limit: 32 << 20)
  /// The error of a failed flush, after which the transaction cannot commit.
  @exclusivity(unchecked) var failure: (any Error)?

  private let synchronization: LMDBConfiguration.Synchronization
  /// The environment, which knows of early commits; nil while a store is made.
  private let environment: LMDBEnvironment?
  /// Whether LMDB runs a child of the transaction.
  @exclusivity(unchecked) private var isNested = false
  /// Removes what was committed early, if the transaction rolls back.
  @exclusivity(unchecked) private var undo: ((any ByteWriter) throws -> Void)?

  /// Begins a transaction; the caller holds the lock of all processes' writers.
  init(
    _ handle: LMDBHandle, _ synchronization: LMDBConfiguration.Synchronization,
    in environment: LMDBEnvironment? = nil
  ) throws {
    self.handle = handle
    self.synchronization = synchronization
    self.environment = environment
    workspace = KeyValueWorkspace(planChooser: handle.planChooser)
    longestKey = Int(mdb_env_get_maxkeysize(handle.environment))
    greatest = LMDBGreatestKeys(longest: longestKey)
    try begin()
  }

  private func begin() throws {
    let flags: Int32 =
      switch synchronization {
      case .full: 0
      case .last: MDB_NOMETASYNC
      case .off: MDB_NOSYNC
      }
    // LMDB 0.9 ignores these flags of a transaction and takes the environment's, which only the one writer changes.
    let all = UInt32(MDB_NOMETASYNC | MDB_NOSYNC)
    try LMDBFailure.check(mdb_env_set_flags(handle.environment, all, 0), "set the durability")
    if flags != 0 {
      try LMDBFailure.check(mdb_env_set_flags(handle.environment, UInt32(flags), 1), "set the durability")
    }
    try LMDBFailure.check(mdb_txn_begin(handle.environment, nil, 0, &transaction), "begin to write")
    // LMDB gives the transaction the number of the state that it creates.
    version = mdb_txn_id(transaction) - 1
    // LMDB takes the number from its lock file. A process with another lock file may have committed.
    guard version == handle.newestTransaction else {
      mdb_txn_abort(transaction)
      transaction = nil
      throw PersistenceError(
        .missingStore,
        "data.mdb is not of the state that lock.mdb records: a program has replaced or linked one of them, or the disk has "
          + "failed; close the store in all processes, and open it again",
        location: environment?.files.directory)
    }
    greatest.forgetAll()
    commitsState = false
  }

  /// Commits and ends the transaction, even if the commit fails.
  func commit() throws {
    try writePending()
    let transaction = try current()
    closeCursors()
    self.transaction = nil
    try check(mdb_txn_commit(transaction), "commit")
    undo = nil
  }

  func checkpoint(undo: @escaping (any ByteWriter) throws -> Void) throws -> Bool {
    guard !isNested, let environment else { return false }
    try requireSpaceToUndo()
    let earlier = self.undo
    do { try environment.commitEarly(self) } catch {
      self.undo = earlier
      throw error
    }
    self.undo = undo
    try begin()
    return true
  }

  /// Rolls back the transaction unless it has ended.
  func abort() {
    rollBack()
    guard let undo else { return }
    self.undo = nil
    failure = nil
    do {
      try begin()
      try undo(self)
      try environment?.commitEarly(self)
    } catch {
      // What remains is removed by the next transaction that could make it.
      rollBack()
    }
  }

  private func rollBack() {
    guard let transaction else { return }
    pending.removeAll()
    closeCursors()
    mdb_txn_abort(transaction)
    self.transaction = nil
  }

  func current() throws -> OpaquePointer {
    guard let transaction else { throw PersistenceError.closed("the transaction") }
    return transaction
  }

  func check(_ code: Int32, _ action: @autoclosure () -> String) throws {
    if code != MDB_SUCCESS { throw LMDBFailure(code: code, action: action()).error(mapSize: handle.mapSize) }
  }

  func closeCursors() {
    endAppending()
    for cursor in cursors { cursor.close() }
    cursors.removeAll()
  }
}

extension LMDBTransaction {
  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    if space == .indexes { try writePending() }
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(try current(), handle.database(space), &key, &value)
    if code == MDB_SUCCESS { return value.bytes }
    if code == MDB_NOTFOUND { return nil }
    throw LMDBFailure(code: code, action: "read the store").error()
  }

  /// A new cursor; LMDB requires that it closes before the transaction ends.
  func acquireCursor(in space: KeySpace) throws -> any ByteCursor {
    if space == .indexes { try writePending() }
    let cursor = try LMDBCursor(try current(), handle.database(space), space, generation: 0)
    cursors.append(cursor)
    return cursor
  }

  func release(_ cursor: any ByteCursor) {
    guard let index = cursors.lastIndex(where: { $0 === cursor }) else { return }
    cursors.remove(at: index).close()
  }

  func remove(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws -> Bool {
    let transaction = try current()
    if space == .indexes { try writePending() }
    greatest.forget(in: space)
    endAppending(to: space)
    var stored = MDB_val(key)
    let code = mdb_del(transaction, handle.database(space), &stored, nil)
    if code == MDB_NOTFOUND { return false }
    try check(code, "delete a record")
    return true
  }

  func removeAll(beginningWith prefix: UnsafeRawBufferPointer, in space: KeySpace) throws {
    if space == .indexes { try writePending() }
    greatest.forget(in: space)
    endAppending(to: space)
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(try current(), handle.database(space), &cursor), "delete records")
    defer { mdb_cursor_close(cursor) }
    // LMDB fills a page from its neighbours as soon as three quarters of it are empty, entry by entry. A page of which a
    // third remains is merged with the next one instead. So two of three entries are removed first, of a few pages at a
    // time: their copies need free space.
    while case let seen = try remove(prefix, cursor, { $0 % 3 != 0 }), seen > 0 {
      _ = try remove(prefix, cursor, atMost: (seen + 2) / 3) { _ in true }
    }
  }

  /// Removes those of the first entries with a prefix, about sixteen pages of them, whose numbers a closure selects;
  /// returns how many it has seen.
  @inline(__always)
  private func remove(
    _ prefix: UnsafeRawBufferPointer, _ cursor: OpaquePointer?, atMost limit: Int = 256,
    _ isRemoved: (Int) -> Bool
  ) throws -> Int {
    var (key, value) = (MDB_val(prefix), MDB_val())
    var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    var (number, size) = (0, 0)
    while code == MDB_SUCCESS, number < limit, size < 64 << 10, ByteOrder.begins(key.bytes, with: prefix) {
      size += key.mv_size + value.mv_size
      if isRemoved(number) { try check(mdb_cursor_del(cursor, 0), "delete records") }
      number += 1
      // After a deletion, MDB_NEXT returns the entry that took the deleted one's place.
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if code != MDB_NOTFOUND { try check(code, "delete records") }
    return number
  }

  /// Runs a closure in a child transaction of LMDB; the parent is unused meanwhile.
  func nested(_ body: () throws -> Void) throws {
    try writePending()
    let parent = try current()
    closeCursors()
    var child: OpaquePointer?
    try check(mdb_txn_begin(handle.environment, parent, 0, &child), "begin a nested transaction")
    transaction = child
    greatest.forgetAll()
    let (wasNested, hadChanges) = (isNested, commitsState)
    isNested = true
    defer { isNested = wasNested }
    do {
      try body()
      try writePending()
    } catch {
      pending.removeAll()
      closeCursors()
      mdb_txn_abort(child)
      transaction = parent
      greatest.forgetAll()
      commitsState = hadChanges
      // The rollback of the child also undoes its failure.
      failure = nil
      throw error
    }
    closeCursors()
    transaction = parent
    let code = mdb_txn_commit(child)
    if code != MDB_SUCCESS {
      // LMDB rolls back a child that it cannot commit.
      greatest.forgetAll()
      commitsState = hadChanges
    }
    try check(code, "finish a nested transaction")
  }
}
