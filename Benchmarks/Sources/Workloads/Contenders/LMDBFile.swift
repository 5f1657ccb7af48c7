import CRawLMDB
import Foundation

/// An LMDB environment with databases of movies by number, of numbers by votes, and by other keys.
final class LMDBFile {
  let environment: OpaquePointer
  private var reader: OpaquePointer?
  private(set) var movies: MDB_dbi = 0
  private(set) var votes: MDB_dbi = 0
  /// Movies by keys that are not numbers.
  private(set) var others: MDB_dbi = 0

  init(_ path: String) throws {
    var made: OpaquePointer?
    try Self.check(mdb_env_create(&made))
    guard let made else { throw Failure("LMDB created no environment") }
    environment = made
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Self.check(mdb_env_set_maxdbs(environment, 4))
    try Self.check(mdb_env_set_mapsize(environment, 1 << 34))
    try Self.check(mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600))
    var status = MDB_stat()
    try Self.check(mdb_env_stat(environment, &status))
    // Other transactions can use the handles after this commit.
    let isMade = status.ms_entries > 0
    try commit(isReading: isMade) { try open($0, creating: isMade ? 0 : MDB_CREATE) }
  }

  deinit {
    if let reader { mdb_txn_abort(reader) }
    mdb_env_close(environment)
  }

  private func open(_ transaction: OpaquePointer, creating: Int32) throws {
    try Self.check(mdb_dbi_open(transaction, "movies", UInt32(MDB_INTEGERKEY | creating), &movies))
    try Self.check(mdb_dbi_open(transaction, "votes", UInt32(creating), &votes))
    try Self.check(mdb_dbi_open(transaction, "others", UInt32(creating), &others))
  }

  static func check(_ code: Int32) throws {
    guard code == MDB_SUCCESS else { throw Failure("LMDB: " + String(cString: mdb_strerror(code))) }
  }

  /// Reads in a transaction that is reused.
  @inline(__always)
  func read<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
    if let reader {
      try Self.check(mdb_txn_renew(reader))
    } else {
      try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
    }
    guard let reader else { throw Failure("LMDB started no transaction") }
    let result = try body(reader)
    mdb_txn_reset(reader)
    return result
  }

  func write(_ body: (OpaquePointer) throws -> Void) throws { try commit(isReading: false, body) }

  private func commit(isReading: Bool, _ body: (OpaquePointer) throws -> Void) throws {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, isReading ? UInt32(MDB_RDONLY) : 0, &transaction))
    guard let transaction else { throw Failure("LMDB started no transaction") }
    do { try body(transaction) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try Self.check(mdb_txn_commit(transaction))
  }

  /// Reads the values of a database in key order, optionally from a key on.
  @inline(__always)
  func scan(
    _ database: MDB_dbi, from first: UnsafeRawBufferPointer? = nil, in transaction: OpaquePointer,
    limit: Int = .max, _ body: (MDB_val, MDB_val) throws -> Void
  ) throws {
    var cursor: OpaquePointer?
    try Self.check(mdb_cursor_open(transaction, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    var value = MDB_val()
    var key = MDB_val(
      mv_size: first?.count ?? 0, mv_data: UnsafeMutableRawPointer(mutating: first?.baseAddress))
    var code = mdb_cursor_get(cursor, &key, &value, first == nil ? MDB_FIRST : MDB_SET_RANGE)
    var rest = limit
    while code == MDB_SUCCESS {
      try body(key, value)
      rest -= 1
      if rest == 0 { return }
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard code == MDB_NOTFOUND else { return try Self.check(code) }
  }

  /// Returns the key's value for a movie.
  @inline(__always)
  func value(of id: Int64, in transaction: OpaquePointer) throws -> MDB_val? {
    try withUnsafeBytes(of: id) { bytes in
      var key = MDB_val(mv_size: 8, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      var value = MDB_val()
      let code = mdb_get(transaction, movies, &key, &value)
      if code == MDB_NOTFOUND { return nil }
      try Self.check(code)
      return value
    }
  }

  /// Appends a movie, and passes the buffer for its bytes.
  @inline(__always)
  func append(_ id: Int64, count: Int, in transaction: OpaquePointer) throws -> UnsafeMutableRawPointer {
    try withUnsafeBytes(of: id) { bytes in
      var key = MDB_val(mv_size: 8, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      var value = MDB_val(mv_size: count, mv_data: nil)
      try Self.check(mdb_put(transaction, movies, &key, &value, UInt32(MDB_RESERVE | MDB_APPEND)))
      guard let place = value.mv_data else { throw Failure("LMDB reserved no space") }
      return place
    }
  }

  /// Adds the votes of a movie to the index.
  @inline(__always)
  func index(_ number: Int, _ id: Int64, in transaction: OpaquePointer) throws {
    try withUnsafeBytes(of: (UInt64(number).bigEndian, UInt64(id).bigEndian)) { bytes in
      var key = MDB_val(mv_size: 16, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      var value = MDB_val()
      try Self.check(mdb_put(transaction, votes, &key, &value, 0))
    }
  }
}
