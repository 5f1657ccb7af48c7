import CLMDB
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue

/// A read transaction: the store at the time when it began or was renewed.
///
/// With MDB_NOTLS, it belongs to no thread, but one thread at a time may use it.
final class LMDBReader: ByteReader, @unchecked Sendable {  // its owners use it from one thread at a time
  let handle: LMDBHandle
  let workspace: KeyValueWorkspace
  let longestKey: Int
  var copiesRows: Bool { false }
  var keepsEntries: Bool { true }

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
/// A context keeps several idle slots, so that concurrent readers share no reference counts.
final class LMDBReaderSlot: @unchecked Sendable {  // the pool gives it to one thread at a time
  let reader: LMDBReader
  let session: LMDBSession
  let store: KeyValueStore

  init(_ reader: LMDBReader, _ session: LMDBSession) {
    self.reader = reader
    self.session = session
    store = KeyValueStore(session.environment.store)
  }

  /// Returns the reader to the store.
  func end() { session.environment.release(reader) }
}

typealias LMDBReaderSlots = StripedPool<LMDBReaderSlot>
