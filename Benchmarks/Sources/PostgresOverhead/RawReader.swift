import CRawPostgres
import Movies

/// Reads movies of the library's own table, which is the tightest comparison: both sides read the same pages.
///
/// Reads run outside transactions, in one round trip each; all movies come from one snapshot.
struct RawReader {
  private let connection: RawPostgres
  private let select: String

  init(_ url: String, table: String) throws {
    connection = try RawPostgres(url)
    // The library turns it off too.
    try connection.run("SET jit = off")
    select = "SELECT \(BinaryMovie.columns.joined(separator: ", ")) FROM \(table)"
    try connection.prepare("get", select + " WHERE \"id\" = $1")
    try connection.prepare("filter", select + " WHERE \"title\" >= $1 AND \"title\" < $2 ORDER BY \"id\"")
    try connection.prepare("count", "SELECT count(*) FROM \(table)")
  }

  func get(_ id: Int64) throws -> Movie? {
    try connection.rows(of: "get", RawParameters(id)) { result in
      PQntuples(result) == 1 ? BinaryMovie.movie(result, 0) : nil
    }
  }

  func filter(from first: String, to last: String) throws -> [Movie] {
    try connection.rows(of: "filter", RawParameters(first, last)) { result in
      (0..<PQntuples(result)).map { BinaryMovie.movie(result, $0) }
    }
  }

  func count() throws -> Int {
    try connection.rows(of: "count", RawParameters()) { Int(BinaryMovie.integer($0, 0, 0)) }
  }

  /// All movies in the order of the key, by a cursor, which is faster than one large result.
  func all(_ body: (Movie) -> Void) throws {
    let handle = connection.handle
    let fetch = "FETCH 1024 FROM movies"
    // These travel together, and the last one's rows return.
    var statement =
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
      + "DECLARE movies BINARY CURSOR FOR \(select) ORDER BY \"id\"; \(fetch)"
    var count: Int32
    repeat {
      let result = try connection.checked(PQexec(handle, statement), PGRES_TUPLES_OK, "read movies")
      count = PQntuples(result)
      for row in 0..<count { body(BinaryMovie.movie(result, row)) }
      PQclear(result)
      statement = fetch
    } while count == 1024
    try connection.run("COMMIT")
  }
}
