import CRawPostgres
import Movies

/// Writes movies to a table of its own, with the library's columns and indexes.
///
/// Each write is a serializable transaction that is sent at once, in libpq's pipeline mode: one round trip, and one wait
/// for the disk. As the library's do, it locks a table that exclusive writers lock, and adds its number to a table from
/// which observers in all processes learn of commits.
///
/// A numbered write also does what the library's contract requires of a server and of libpq: it waits for locks for a
/// limited time, proves that the tables are those it knows, and learns the number of its transaction before the commit, so
/// that a lost answer hides no outcome.
final class RawWriter: @unchecked Sendable {  // one thread at a time
  private let connection: RawPostgres

  init(_ url: String, table: String, gate: String, version: String, log: String) throws {
    connection = try RawPostgres(url)
    let names = BinaryMovie.columns
    let changes = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let insert =
      "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
      + "VALUES (\((1...names.count).map { "$\($0)" }.joined(separator: ", ")))"
    for (name, text) in [
      ("begin", "BEGIN ISOLATION LEVEL SERIALIZABLE"), ("gate", "LOCK TABLE \(gate) IN ROW EXCLUSIVE MODE"),
      ("limit", "SET LOCAL lock_timeout = 60000"),
      ("gates", "LOCK TABLE \(gate), \(version) IN ROW EXCLUSIVE MODE"),
      ("number", "INSERT INTO \(log) DEFAULT VALUES RETURNING xid"),
      ("insert", insert), ("save", insert + " ON CONFLICT (\"id\") DO UPDATE SET \(changes)"),
      ("log", "INSERT INTO \(log) DEFAULT VALUES"), ("commit", "COMMIT"), ("rollback", "ROLLBACK"),
    ] {
      try connection.prepare(name, text)
    }
    guard PQenterPipelineMode(connection.handle) == 1 else { throw connection.failure("begin a pipeline") }
  }

  /// Adds a movie, or replaces the one with its key; returns after the commit.
  func save(_ movie: Movie, isNumbered: Bool = false) throws { try write("save", movie, isNumbered) }

  /// Adds a movie; returns after the commit.
  func insert(_ movie: Movie, isNumbered: Bool = false) throws { try write("insert", movie, isNumbered) }

  private func write(_ statement: String, _ movie: Movie, _ isNumbered: Bool) throws {
    let parameters = RawParameters(movie)
    while true {
      let statements =
        isNumbered
        ? [
          ("begin", RawParameters()), ("limit", RawParameters()), ("gates", RawParameters()),
          (statement, parameters), ("number", RawParameters()), ("commit", RawParameters()),
        ]
        : [
          ("begin", RawParameters()), ("gate", RawParameters()), (statement, parameters),
          ("log", RawParameters()), ("commit", RawParameters()),
        ]
      if try pipeline(statements) { return }
      _ = try pipeline([("rollback", RawParameters())])
    }
  }

  /// Sends prepared statements at once; returns false after a conflict with another transaction.
  private func pipeline(_ statements: [(String, RawParameters)]) throws -> Bool {
    let handle = connection.handle
    for (name, parameters) in statements {
      let isSent = parameters.withPointers { count, values, lengths, formats in
        PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
      }
      guard isSent == 1 else { throw connection.failure("send a statement") }
      // The server sends the number before it commits.
      if name == "number", PQsendFlushRequest(handle) != 1 { throw connection.failure("ask for the number") }
    }
    guard PQpipelineSync(handle) == 1 else { throw connection.failure("send statements") }
    var hasConflict = false
    while true {
      // No result separates two statements.
      guard let result = PQgetResult(handle) else {
        guard PQstatus(handle) == CONNECTION_OK else { throw connection.failure("read answers") }
        continue
      }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC: return !hasConflict
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_ABORTED: break
      default:
        let state = PQresultErrorField(result, RAW_PG_SQLSTATE).map { String(cString: $0) }
        guard state == "40001" || state == "40P01" else { throw connection.failure("write a movie") }
        hasConflict = true
      }
    }
  }
}

extension RawPostgres {
  /// Copies movies into a table in one transaction, in the binary format.
  func copy(_ movies: [Movie], into table: String) throws {
    let columns = BinaryMovie.columns.joined(separator: ", ")
    let statement = "COPY \(table) (\(columns)) FROM STDIN (FORMAT binary)"
    PQclear(try checked(PQexec(handle, statement), PGRES_COPY_IN, "copy"))
    // The format's header has a signature, flags, and the length of an extension.
    var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
    for movie in movies {
      BinaryMovie.append(movie, to: &bytes)
      if bytes.count >= 1 << 16 { try send(&bytes) }
    }
    BinaryMovie.append(Int16(-1), to: &bytes)
    try send(&bytes)
    guard PQputCopyEnd(handle, nil) == 1 else { throw failure("end a copy") }
    PQclear(try checked(PQgetResult(handle), PGRES_COMMAND_OK, "copy movies"))
    while let result = PQgetResult(handle) { PQclear(result) }
  }

  private func send(_ bytes: inout [UInt8]) throws {
    let code = bytes.withUnsafeBytes { part in
      PQputCopyData(handle, part.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(part.count))
    }
    guard code == 1 else { throw failure("send movies") }
    bytes.removeAll(keepingCapacity: true)
  }
}
