import CLMDB
import PersistenceDriver
import PersistenceKeyValue

/// A transaction for reading: the store as it was when it was begun or renewed.
///
/// With MDB_NOTLS it belongs to no thread, but one at a time may use it.
final class LMDBReader: ByteReader, @unchecked Sendable {  // used by one thread at a time: see its owners
  let handle: LMDBHandle
  let workspace: KeyValueWorkspace
  let longestKey: Int
  var lendsCopies: Bool { false }

  private let transaction: OpaquePointer
  @exclusivity(unchecked) private var cursors: [LMDBCursor] = []
  @exclusivity(unchecked) private var generation: UInt64 = 0

  /// Begins a transaction.
  ///
  /// - Throws: ``PersistenceError`` beneath which LMDB's code tells what can be helped.
  init(_ handle: LMDBHandle) throws {
    self.handle = handle
    workspace = KeyValueWorkspace(dice: handle.dice)
    longestKey = Int(mdb_env_get_maxkeysize(handle.environment))
    var started: OpaquePointer?
    try LMDBFailure.check(
      mdb_txn_begin(handle.environment, nil, UInt32(MDB_RDONLY), &started), "begin to read")
    guard let started else { throw PersistenceError.closed("the store") }
    transaction = started
  }

  /// The number of the committed transaction that is seen.
  var version: Int { mdb_txn_id(transaction) }

  /// Sees the newest state again, after ``reset()``.
  func renew() throws {
    generation &+= 1
    try LMDBFailure.check(mdb_txn_renew(transaction), "begin to read")
  }

  /// Sees the newest state again, after ``reset()``; says whether it could.
  func renewed() -> Bool {
    generation &+= 1
    return mdb_txn_renew(transaction) == MDB_SUCCESS
  }

  /// Lets the state go that is seen.
  func reset() { mdb_txn_reset(transaction) }

  /// Ends the transaction for good.
  func close() {
    for cursor in cursors { cursor.close() }
    cursors.removeAll()
    mdb_txn_abort(transaction)
  }

  func value(of key: UnsafeRawBufferPointer, in space: ByteSpace) throws -> UnsafeRawBufferPointer? {
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(transaction, handle.database(space), &key, &value)
    if code == MDB_SUCCESS { return value.bytes }
    if code == MDB_NOTFOUND { return nil }
    throw LMDBFailure(code: code, action: "read the store").error()
  }

  func takeCursor(in space: ByteSpace) throws -> any ByteCursor {
    if let index = cursors.lastIndex(where: { $0.space == space }) {
      let cursor = cursors.remove(at: index)
      if cursor.generation != generation { try cursor.renew(transaction, generation: generation) }
      return cursor
    }
    return try LMDBCursor(transaction, handle.database(space), space, generation: generation)
  }

  func giveBack(_ cursor: any ByteCursor) {
    guard let cursor = cursor as? LMDBCursor else { return }
    cursors.append(cursor)
  }
}
