import Foundation
import Logging
import Movies
import PersistenceCore
import PersistencePostgres
import SilentLogging

/// The benchmark's stores and tables in one database.
struct Stores {
  /// The URL for libpq.
  let url: String
  /// The schemas of the library's stores and of libpq's tables.
  private static let (few, many, raw) = (
    "persistence_overhead", "persistence_overhead_many", "persistence_overhead_raw"
  )
  private static let quiet = Monitoring(logger: .init(label: "benchmark") { _ in SilentLog() })

  let table = "\(few).\"Movie\""
  let manyTable = "\(many).\"Movie\""
  let rawTable = "\(raw).\"Movie\""
  let rawGate = "\(raw).gate"
  let rawVersion = "\(raw).version"
  let rawLog = "\(raw).commits"

  /// The URL of the store that most measurements use, and of one with many movies.
  var store: String { url(of: Self.few) }
  var manyStore: String { url(of: Self.many) }

  /// The URL of a store; each writer has a connection of its own, so the pool keeps as many.
  private func url(of schema: String) -> String {
    url + (url.contains("?") ? "&" : "?") + "schema=\(schema)&pool=40&busy=60s"
  }

  static func open(_ url: String) throws -> Repository {
    try Repository(opening: url, engines: [.postgres, .postgresql], monitoring: quiet)
  }

  /// Makes the stores, and libpq's copies of a table of movies and of the table that records commits.
  func make(rows: Int, many: Int) throws {
    try remove()
    for (store, count) in [(self.store, rows), (manyStore, many)] {
      let repository = try Self.open(store)
      for start in stride(from: 0, to: count, by: 50_000) {
        try repository.insert(contentsOf: (start..<min(count, start + 50_000)).lazy.map(Movie.init(number:)))
      }
      try repository.close()
    }
    let connection = try RawPostgres(url)
    for statement in [
      "CREATE SCHEMA \(Self.raw)", "CREATE TABLE \(rawGate) ()", "CREATE TABLE \(rawVersion) ()",
      "CREATE TABLE \(rawLog) (LIKE \(Self.few).persistence_commits INCLUDING ALL)",
      "CREATE TABLE \(rawTable) (LIKE \(table) INCLUDING ALL)",
      "INSERT INTO \(rawTable) SELECT * FROM \(table)",
    ] {
      try connection.run(statement)
    }
    for table in [table, rawTable, manyTable] { try connection.run("VACUUM ANALYZE \(table)") }
    // A checkpoint would slow down the measurements; only some users may request one.
    try? connection.run("CHECKPOINT")
  }

  /// A new store, and a new table of libpq, which already have one movie, so that no measurement makes them.
  func makeEmpty(_ number: Int) throws -> (store: Repository, table: String) {
    let schema = "\(Self.few)_copy_\(number)"
    let repository = try Self.open(url(of: schema))
    try repository.insert(Movie(number: 1_000_000_000))
    let connection = try RawPostgres(url)
    let table = "\(Self.raw).copy_\(number)"
    try connection.run("CREATE TABLE \(table) (LIKE \(schema).\"Movie\" INCLUDING ALL)")
    try connection.run("INSERT INTO \(table) SELECT * FROM \(schema).\"Movie\"")
    return (repository, table)
  }

  /// Removes what ``makeEmpty(_:)`` has made.
  func removeEmpty(_ number: Int) throws {
    let connection = try RawPostgres(url)
    try connection.run("SET client_min_messages = error")
    try connection.run("DROP SCHEMA IF EXISTS \(Self.few)_copy_\(number) CASCADE")
    try connection.run("DROP TABLE IF EXISTS \(Self.raw).copy_\(number)")
  }

  /// Removes all stores and tables.
  func remove() throws {
    let connection = try RawPostgres(url)
    try connection.run("SET client_min_messages = error")
    for schema in [Self.few, Self.many, Self.raw] {
      try connection.run("DROP SCHEMA IF EXISTS \(schema) CASCADE")
    }
    // A run that fails leaves stores of its rounds.
    try connection.run(
      """
      DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname ~ '^\(Self.few)_copy_[0-9]+$' LOOP
          EXECUTE pg_catalog.format('DROP SCHEMA %I CASCADE', name);
        END LOOP;
      END $$
      """)
  }
}
