import CRawLMDB
import Comparing
import Foundation

/// The movies in LMDB's C API: the length at the start of each value, the other fields behind it.
final class RawLMDB {
  private let path: String
  private var environment: OpaquePointer?
  private var database: MDB_dbi = 0
  private static let lengthCount = 4
  /// How many bytes one transaction of ``computeInLittleMemory()`` writes, as in the library.
  private static let batchSize = 12 << 20
  /// How often the records were copied.
  private var copies = 0

  init(_ path: String, rows: Int) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try open()
    defer { close() }
    try write { transaction in
      for number in 0..<rows {
        let movie = Grown<Old>(number: number)
        var bytes = Array(movie.length.utf8) + Array(movie.title.utf8)
        withUnsafeBytes(of: (movie.votes, movie.price)) { bytes += $0 }
        var key = movie.id
        try withUnsafeMutableBytes(of: &key) { key in
          try bytes.withUnsafeMutableBytes { value in
            var (key, value) = (
              MDB_val(mv_size: key.count, mv_data: key.baseAddress),
              MDB_val(mv_size: value.count, mv_data: value.baseAddress)
            )
            try Self.check(mdb_put(transaction, database, &key, &value, UInt32(MDB_APPEND)))
          }
        }
      }
    }
  }

  deinit { close() }

  private func open() throws {
    try Self.check(mdb_env_create(&environment))
    try Self.check(mdb_env_set_mapsize(environment, 1 << 36))
    try Self.check(mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600))
    try write { transaction in
      try Self.check(mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY), &database))
    }
  }

  private func close() {
    mdb_env_close(environment)
    environment = nil
  }

  /// The time of some work from before the store opens, as an app's version finds it, until before it closes.
  func opening(_ work: (RawLMDB) throws -> Void) throws -> Double {
    defer { close() }
    return try seconds {
      try open()
      try work(self)
    }
  }

  private static func check(_ code: Int32) throws {
    guard code == MDB_SUCCESS else { throw Failure("LMDB: " + String(cString: mdb_strerror(code))) }
  }

  private func write(_ body: (OpaquePointer) throws -> Void) throws {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
    guard let transaction else { throw Failure("LMDB started no transaction") }
    do { try body(transaction) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try Self.check(mdb_txn_commit(transaction))
  }

  /// Rewrites each value with a number that is computed from its length.
  func compute() throws {
    try write { transaction in
      var cursor: OpaquePointer?
      try Self.check(mdb_cursor_open(transaction, database, &cursor))
      defer { mdb_cursor_close(cursor) }
      var (key, value) = (MDB_val(), MDB_val())
      var rewritten: [UInt8] = []
      var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
      while code == MDB_SUCCESS {
        let old = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        let number = minutes(old.prefix(Self.lengthCount))
        rewritten.removeAll(keepingCapacity: true)
        rewritten.append(contentsOf: old)
        withUnsafeBytes(of: number) { rewritten.append(contentsOf: $0) }
        // The key is in the page that changes.
        guard var id = key.mv_data?.loadUnaligned(as: Int.self) else { throw Failure("no key") }
        let put = withUnsafeMutableBytes(of: &id) { id in
          rewritten.withUnsafeMutableBytes { bytes in
            var same = MDB_val(mv_size: id.count, mv_data: id.baseAddress)
            var new = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            return mdb_cursor_put(cursor, &same, &new, UInt32(MDB_CURRENT))
          }
        }
        try Self.check(put)
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
      }
      guard code == MDB_NOTFOUND else { return try Self.check(code) }
    }
  }

  /// As ``compute()``, with as little memory as the library: it copies the records in several transactions to keys behind the
  /// old ones, and then removes those.
  func computeInLittleMemory() throws {
    copies += 1
    let first = copies << 40
    var next = (copies - 1) << 40
    var isDone = false
    while !isDone {
      try write { transaction in isDone = try copy(from: &next, below: first, transaction) }
    }
    isDone = false
    while !isDone { try write { transaction in isDone = try removeSome(below: first, transaction) } }
  }

  /// Copies some records; returns whether they are the last ones.
  private func copy(from next: inout Int, below end: Int, _ transaction: OpaquePointer) throws -> Bool {
    var (reader, writer): (OpaquePointer?, OpaquePointer?)
    try Self.check(mdb_cursor_open(transaction, database, &reader))
    defer { mdb_cursor_close(reader) }
    // A cursor appends without a search for the last page.
    try Self.check(mdb_cursor_open(transaction, database, &writer))
    defer { mdb_cursor_close(writer) }
    var (key, value) = (MDB_val(), MDB_val())
    var code = withUnsafeMutableBytes(of: &next) { bytes in
      key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      return mdb_cursor_get(reader, &key, &value, MDB_SET_RANGE)
    }
    var size = 0
    while code == MDB_SUCCESS {
      guard let id = key.mv_data?.loadUnaligned(as: Int.self) else { throw Failure("no key") }
      if id >= end { return true }
      if size >= Self.batchSize {
        next = id
        return false
      }
      let old = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
      let number = minutes(old.prefix(Self.lengthCount))
      // The numbers of the records are below 2^40.
      var copied = id % (1 << 40) + end
      let put = withUnsafeMutableBytes(of: &copied) { id in
        var key = MDB_val(mv_size: id.count, mv_data: id.baseAddress)
        var value = MDB_val(mv_size: old.count + MemoryLayout<Int>.size, mv_data: nil)
        let code = mdb_cursor_put(writer, &key, &value, UInt32(MDB_APPEND | MDB_RESERVE))
        guard code == MDB_SUCCESS, let source = old.baseAddress else { return code }
        value.mv_data?.copyMemory(from: source, byteCount: old.count)
        value.mv_data?.storeBytes(of: number, toByteOffset: old.count, as: Int.self)
        return code
      }
      try Self.check(put)
      size += old.count + MemoryLayout<Int>.size
      code = mdb_cursor_get(reader, &key, &value, MDB_NEXT)
    }
    guard code == MDB_NOTFOUND else { throw Failure("LMDB: " + String(cString: mdb_strerror(code))) }
    return true
  }

  /// Removes some records; returns whether they were the last ones.
  private func removeSome(below end: Int, _ transaction: OpaquePointer) throws -> Bool {
    var cursor: OpaquePointer?
    try Self.check(mdb_cursor_open(transaction, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    var size = 0
    while size < Self.batchSize {
      let code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
      guard code == MDB_SUCCESS, let id = key.mv_data?.loadUnaligned(as: Int.self), id < end else {
        return true
      }
      size += value.mv_size
      try Self.check(mdb_cursor_del(cursor, 0))
    }
    return false
  }
}
