import CRawLMDB
import PersistenceCore

/// A store that several threads read while another one writes.
protocol BenchmarkReader: Sendable {
  var name: String { get }

  /// Creates the reader of one thread, which reads each key in its own transaction.
  func makeReader() throws -> (Int64) throws -> Bool

  /// Changes a movie in a transaction on the writing thread, and runs a closure before the commit.
  func commit(_ movie: Movie, _ beforeCommit: () throws -> Void) throws
}

/// The library: one repository for all threads.
struct LibraryBenchmarkReader: BenchmarkReader {
  let name = Names.library
  let repository: Repository

  func makeReader() -> (Int64) throws -> Bool {
    let repository: any PersistentRepository = repository
    return { try repository.find(Movie.self, id: $0) != nil }
  }

  func commit(_ movie: Movie, _ beforeCommit: () throws -> Void) throws {
    try repository.transaction { store in
      try store.update(movie)
      try beforeCommit()
    }
  }
}

/// SQLite's C API: a connection for each thread.
final class RawSQLiteBenchmarkReader: BenchmarkReader {
  let name = Names.raw
  private let folder: Folder
  private let input: Input
  // Used by the writing thread only.
  nonisolated(unsafe) private let writer: RawSQLite

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    self.input = input
    writer = try RawSQLite(folder, input)
  }

  func makeReader() throws -> (Int64) throws -> Bool {
    let reader = try RawSQLite(folder, input, filled: false)
    return { try reader.find($0) != nil }
  }

  func commit(_ movie: Movie, _ beforeCommit: () throws -> Void) throws {
    try writer.run(.begin)
    try writer.write(movie, try writer.prepared(.update))
    try beforeCommit()
    try writer.run(.commit)
  }
}

/// LMDB's C API: a read transaction for each thread, renewed for each key.
final class RawLMDBBenchmarkReader: BenchmarkReader {
  let name = Names.raw
  // Threads can share LMDB's environment; the writing thread uses the other properties.
  nonisolated(unsafe) private let file: LMDBFile

  init(_ folder: Folder, _ input: Input) throws { file = try RawLMDB(folder, input).file }

  func makeReader() throws -> (Int64) throws -> Bool {
    let reader = try Reader(file.environment)
    let file = file
    return { key in
      try LMDBFile.check(mdb_txn_renew(reader.transaction))
      defer { mdb_txn_reset(reader.transaction) }
      guard let data = try file.value(of: key, in: reader.transaction)?.mv_data else { return false }
      return PackedMovie(data).movie().id == key
    }
  }

  func commit(_ movie: Movie, _ beforeCommit: () throws -> Void) throws {
    try file.write { transaction in
      try withUnsafeBytes(of: movie.id) { bytes in
        var key = MDB_val(mv_size: 8, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        var value = MDB_val(mv_size: PackedMovie.length(of: movie), mv_data: nil)
        try LMDBFile.check(mdb_put(transaction, file.movies, &key, &value, UInt32(MDB_RESERVE)))
        guard let place = value.mv_data else { throw Failure("LMDB reserved no space") }
        PackedMovie.pack(movie, into: place)
      }
      try beforeCommit()
    }
  }

  /// A read transaction that ends with the object.
  private final class Reader {
    let transaction: OpaquePointer

    init(_ environment: OpaquePointer) throws {
      var made: OpaquePointer?
      try LMDBFile.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &made))
      guard let made else { throw Failure("LMDB started no transaction") }
      transaction = made
      mdb_txn_reset(made)
    }

    deinit { mdb_txn_abort(transaction) }
  }
}
