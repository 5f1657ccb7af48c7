import CRawLMDB
import Foundation

/// The movies in LMDB's C API: the length at the start of each value, the other fields behind it.
final class RawLMDB {
  private let environment: OpaquePointer
  private var database: MDB_dbi = 0
  private static let lengthCount = 4

  init(_ path: String, rows: Int) throws {
    var made: OpaquePointer?
    try Self.check(mdb_env_create(&made))
    guard let made else { throw Failure("LMDB created no environment") }
    environment = made
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Self.check(mdb_env_set_mapsize(environment, 1 << 36))
    try Self.check(mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600))
    try write { transaction in
      try Self.check(mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY), &database))
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

  deinit { mdb_env_close(environment) }

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
}
