import PersistenceDriver
import PersistenceSQL

/// An empty table that has the version of the catalog in its name, such as `persistence_version_735`.
///
/// A statement that names the table of a version runs only while that version is the newest: a change of the catalog
/// renames the table as its last step, which waits for the statements that use it, and makes later ones fail. So a
/// statement outside a transaction proves that its catalog is the newest one, and needs no second statement for that.
/// Where the table is missing or may not be read, such statements fail, and the version is read.
struct PostgresVersionTable {
  private let name: String
  private let store: PostgresStore

  init(_ version: Int64, _ store: PostgresStore) {
    name = "persistence_version_\(version)"
    self.store = store
  }

  private var table: String { store.dialect.table(name) }

  /// The statement that creates the table of a new store.
  var creation: PostgresCommand { PostgresCommand("CREATE TABLE \(table) (one int2 PRIMARY KEY)") }

  /// The statement that makes the table that of a newer version.
  func renaming(to newer: Int64) -> PostgresCommand {
    let newName = Self(newer, store).name
    return PostgresCommand("ALTER TABLE IF EXISTS \(table) RENAME TO \(store.dialect.identifier(newName))")
  }

  /// A query that runs only if the version is the newest.
  ///
  /// The planner removes the join, because it adds neither rows nor columns: only the lock of the table remains.
  func guarding(_ query: String) -> String {
    "SELECT found.* FROM (\(query)) AS found LEFT JOIN \(table) AS version ON version.one = 0"
  }

  /// The statement that locks the writers' gate beside others, if the version is the newest.
  var lockingGate: String { "LOCK TABLE \(store.own("gate")), \(table) IN ROW EXCLUSIVE MODE" }
}
