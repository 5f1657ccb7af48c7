import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization

/// A read transaction: the store at the time when it began or was renewed.
///
/// With MDB_NOTLS, it belongs to no thread, but one thread at a time may use it.
final class LMDBReader: ByteReader, @unchecked Sendable {  // its owners use it from one thread at a time
  let handle: LMDBHandle
  let workspace: KeyValueWorkspace
  let longestKey: Int
  var copiesRows: Bool { false }
  var keepsEntries: Bool { true }
  /// Admits one thread at a time, while snapshots share the reader; made once, since snapshots come and go.
  let lock = NSRecursiveLock()
  /// The number of calls that hold the lock or wait for it.
  let users = Atomic<Int>(0)
  /// The number of snapshots that share the reader; the lock of the environment's state guards it.
  @exclusivity(unchecked) var shares = 0

  private let transaction: OpaquePointer
  @exclusivity(unchecked) private var cursors: [LMDBCursor] = []
  @exclusivity(unchecked) private var generation: UInt64 = 0

  /// Begins a transaction; ``LMDBEnvironment`` recovers from some errors.
  init(_ handle: LMDBHandle) throws {
    self.handle = handle
    workspace = KeyValueWorkspace(planChooser: handle.planChooser)
    longestKey = Int(mdb_env_get_maxkeysize(handle.environment))
    var started: OpaquePointer?
    try LMDBFailure.check(
      mdb_txn_begin(handle.environment, nil, UInt32(MDB_RDONLY), &started), "begin to read")
    guard let started else { throw PersistenceError.closed("the store") }
    transaction = started
  }

  /// The number of the committed transaction that the reader sees.
  var version: Int { mdb_txn_id(transaction) }

  /// Moves to the newest state, after ``reset()``.
  func renew() throws {
    generation &+= 1
    try LMDBFailure.check(mdb_txn_renew(transaction), "begin to read")
  }

  /// Releases the state that the reader sees.
  func reset() { mdb_txn_reset(transaction) }

  func close() {
    for cursor in cursors { cursor.close() }
    cursors.removeAll()
    mdb_txn_abort(transaction)
  }

  func value(of key: UnsafeRawBufferPointer, in space: KeySpace) throws -> UnsafeRawBufferPointer? {
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(transaction, handle.database(space), &key, &value)
    if code == MDB_SUCCESS { return value.bytes }
    if code == MDB_NOTFOUND { return nil }
    throw LMDBFailure(code: code, action: "read the store").error()
  }

  func acquireCursor(in space: KeySpace) throws -> any ByteCursor {
    if let index = cursors.lastIndex(where: { $0.space == space }) {
      let cursor = cursors.remove(at: index)
      if cursor.generation != generation { try cursor.renew(transaction, generation: generation) }
      return cursor
    }
    return try LMDBCursor(transaction, handle.database(space), space, generation: generation)
  }

  func release(_ cursor: any ByteCursor) {
    guard let cursor = cursor as? LMDBCursor else { return }
    cursors.append(cursor)
  }
}

/// A reader with its session, used by one thread at a time.
///
/// A context keeps several idle slots, so that concurrent readers share no reference counts. The methods of a slot call its
/// reader and its store, which a caller with the slot in a variable would retain.
final class LMDBReaderSlot: @unchecked Sendable {  // the pool gives it to one thread at a time
  let reader: LMDBReader
  let session: LMDBSession
  let store: KeyValueStore

  init(_ reader: LMDBReader, _ session: LMDBSession) {
    self.reader = reader
    self.session = session
    store = KeyValueStore(session.environment.store)
  }

  /// Moves to the newest state; returns whether that was possible.
  func renew() -> Bool { (try? reader.renew()) != nil }

  /// Releases the state that the reader sees.
  func reset() { reader.reset() }

  /// Calls a closure with the store and the reader.
  func use<Result>(_ body: (KeyValueStore, LMDBReader) throws -> Result) throws -> Result {
    try body(store, reader)
  }

  /// Looks up a record by its key.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try store.find(key, in: schema, reader, body)
  }

  /// Returns the reader to the store.
  func end() { session.environment.release(reader) }
}

typealias LMDBReaderSlots = StripedPool<LMDBReaderSlot>

/// A cursor in one database of one transaction.
final class LMDBCursor: ByteCursor {
  let space: KeySpace
  /// The generation of the reader in which the cursor was last renewed.
  @exclusivity(unchecked) var generation: UInt64
  @exclusivity(unchecked) private var cursor: OpaquePointer?
  /// Whether a failure has lost the position, so that only a search may go on.
  private var isLost = false
  private let transaction: OpaquePointer
  private let database: MDB_dbi

  init(_ transaction: OpaquePointer, _ database: MDB_dbi, _ space: KeySpace, generation: UInt64) throws {
    self.space = space
    self.generation = generation
    self.transaction = transaction
    self.database = database
    try LMDBFailure.check(mdb_cursor_open(transaction, database, &cursor), "read the store")
  }

  deinit { close() }

  /// Renews the cursor for a read transaction that was renewed.
  func renew(_ transaction: OpaquePointer, generation: UInt64) throws {
    if let cursor {
      try LMDBFailure.check(mdb_cursor_renew(transaction, cursor), "read the store")
    } else {
      _ = try reopened(toSearch: true)
    }
    self.generation = generation
  }

  /// Closes the cursor, before its transaction ends.
  func close() {
    if let cursor { mdb_cursor_close(cursor) }
    cursor = nil
    isLost = false
  }

  /// The error of a failed call; LMDB would continue at the first entry.
  private func failure(_ code: Int32) -> PersistenceError {
    close()
    isLost = true
    return LMDBFailure(code: code, action: "read the store").error()
  }

  /// The cursor after a failure, for a search.
  private func reopened(toSearch isSearch: Bool) throws -> OpaquePointer {
    guard isLost else { throw PersistenceError.closed("a cursor") }
    guard isSearch else { throw failure(MDB_CORRUPTED) }
    try LMDBFailure.check(mdb_cursor_open(transaction, database, &cursor), "read the store")
    guard let cursor else { throw PersistenceError.closed("a cursor") }
    isLost = false
    return cursor
  }

  func seek(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? { try move(MDB_SET_RANGE, MDB_val(key)) }
  func find(_ key: UnsafeRawBufferPointer) throws -> OrderedEntry? { try move(MDB_SET_KEY, MDB_val(key)) }
  func last() throws -> OrderedEntry? { try move(MDB_LAST) }
  func next() throws -> OrderedEntry? { try move(MDB_NEXT) }
  func previous() throws -> OrderedEntry? { try move(MDB_PREV) }

  func read(_ entries: UnsafeMutableBufferPointer<OrderedEntry>, isReversed: Bool) throws -> Int {
    let cursor = if let cursor { cursor } else { try reopened(toSearch: false) }
    let operation = isReversed ? MDB_PREV : MDB_NEXT
    var (key, value) = (MDB_val(), MDB_val())
    var count = 0
    while count < entries.count {
      let code = mdb_cursor_get(cursor, &key, &value, operation)
      guard code == MDB_SUCCESS else {
        if code == MDB_NOTFOUND { break }
        throw failure(code)
      }
      entries[count] = OrderedEntry(key: key.bytes, value: value.bytes)
      // The caller reads the values after the whole batch, and would wait for each: they seldom are in a cache.
      persistence_prefetch(value.mv_data, value.mv_size)
      count &+= 1
    }
    return count
  }

  @inline(__always)
  private func move(_ operation: MDB_cursor_op, _ wanted: MDB_val = MDB_val()) throws -> OrderedEntry? {
    let cursor =
      if let cursor { cursor } else {
        try reopened(toSearch: operation != MDB_NEXT && operation != MDB_PREV)
      }
    var (key, value) = (wanted, MDB_val())
    let code = mdb_cursor_get(cursor, &key, &value, operation)
    if code == MDB_SUCCESS { return OrderedEntry(key: key.bytes, value: value.bytes) }
    if code == MDB_NOTFOUND { return nil }
    throw failure(code)
  }
}

extension MDB_val {
  /// Borrows bytes; LMDB does not change keys and values that it takes.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
