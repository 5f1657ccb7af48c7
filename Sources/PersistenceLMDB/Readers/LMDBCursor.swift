import CLMDB
import PersistenceDriver
import PersistenceKeyValue

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
