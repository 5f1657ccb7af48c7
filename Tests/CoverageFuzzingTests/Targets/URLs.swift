import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

#if Postgres
  import PersistencePostgres
#endif

extension FuzzTarget {
  /// URLs of stores, and by the first byte paths and parameters of requests.
  static let urls = FuzzTarget(name: "urls", seeds: URLs.seeds) { bytes in
    guard let choice = bytes.first, let text = bytes.content.text else { return }
    switch choice % 3 {
    case 0: try URLs.readStore(text)
    case 1: try URLs.readPath(text)
    default: try URLs.readParameters(text)
    }
  }
}

private enum URLs {
  private static let engines: [StorageEngine] = {
    let local: [StorageEngine] = [.sqlite, .lmdb, .json]
    #if Postgres
      return local + [.postgres]
    #else
      return local
    #endif
  }()

  static func readStore(_ text: String) throws {
    guard let url = try accepted(PersistenceError.self, { try StoreURL(text) }) else { return }
    for engine in engines {
      _ = try accepted(PersistenceError.self) { try StoreOptions(url, known: engine.options) }
    }
    let printed = url.description
    guard !printed.contains("***") else { return }
    try require(try StoreURL(printed) == url, "“\(printed)” names another store than “\(text)”")
  }

  static func readPath(_ text: String) throws {
    guard let path = WirePath(text) else { return }
    try require(WirePath(path.text) == path, "“\(path.text)” names another resource than “\(text)”")
    guard case .record(_, let key) = path else { return }
    for schema in [try FuzzModels.everyKind(), try FuzzModels.named(), try FuzzModels.pair()] {
      guard let key = try accepted(PersistenceError.self, { try RecordKey(path: key, in: schema) }) else {
        continue
      }
      guard case .record(_, let again) = WirePath.record(key, in: schema) else { continue }
      try require(try RecordKey(path: again, in: schema) == key, "a key changes in its path")
    }
  }

  static func readParameters(_ text: String) throws {
    let parameters = try accepted(PersistenceError.self) {
      try QueryParameters(text[...], known: WireQuery.parameters)
    }
    _ = try accepted(PersistenceError.self) { try QueryParameters(text[...], known: nil) }
    guard let parameters else { return }
    let request = try accepted(PersistenceError.self) {
      try WireQuery(parameters, try FuzzModels.everyKind(), limits: QueryLimits()).request(
        in: MemoryContext())
    }
    if let predicate = request?.predicate { try Conditions.evaluate(predicate, try FuzzModels.everyKind()) }
  }

  @Sendable static func seeds() throws -> [[UInt8]] {
    let stores = [
      "sqlite:movies.sqlite?synchronous=full&mmap=64MiB", "lmdb:/var/lib/a%20b?mapsize=1GiB", "memory:",
      "json:///tmp/x", "https://user:secret@example.org:8080/?token=abc", "sqlite://x?busytimeout=500ms",
      "postgres://user:secret@db1,db2:5433/movies?schema=a%20b&sslmode=verify-full&pins=4&pooler=transaction",
    ]
    let paths = [
      "/models/Movie/records/1", "/models/%C3%A9/records/a%2Fb/6ba7b810-9dad-11d1-80b4-00c04fd430c8",
      "/schemas/abc", "/openapi.json", "/models//query", "/models/x/count",
    ]
    let parameters = [
      "where=id%20%3E+3&sort=-date,%22is%20new%22&limit=10&offset=2", "after=WyJhYmMiLFsxXV0&limit=0", "",
    ]
    return stores.map { [0] + Array($0.utf8) } + paths.map { [1] + Array($0.utf8) }
      + parameters.map { [2] + Array($0.utf8) }
  }
}
