#if Postgres
  import Foundation
  package import PersistenceConformance
  import PersistenceDriverSupport
  import PersistencePostgres
  import Synchronization

  /// The PostgreSQL server that all tests share, each with a schema of its own.
  ///
  /// The first store starts it. Other processes get its URL by the variable `PERSISTENCE_POSTGRES`, which may also name a
  /// server that runs already.
  package enum PostgresCluster {
    private static let variable = "PERSISTENCE_POSTGRES"
    private static let state = Mutex<Result<String, any Error>?>(nil)

    /// Why there is no server; nil if there is one.
    package static let obstacle: String? = {
      if Environment[variable] != nil || PostgresServer.programs != nil { return nil }
      return "PostgreSQL's initdb is missing, so no test uses PostgreSQL; install the package postgresql"
    }()

    /// The URL of the server's database for tests.
    package static func url() throws -> String {
      try state.withLock { state in
        let known = state ?? Result { try Environment[variable] ?? start() }
        state = known
        return try known.get()
      }
    }

    private static func start() throws -> String {
      if let obstacle { throw PersistenceError(.unsupported, obstacle) }
      let url = try PostgresServer().url
      setenv(variable, url, 1)
      return url
    }
  }

  extension ContextUnderTest {
    /// Stores in PostgreSQL, each in a schema of its own.
    package static let postgres = ContextUnderTest(
      "postgres", effort: Environment.isSoak ? .thorough : .quick,
      worker: .besideThisProgram("ContextWorker", arguments: ["postgres"])
    ) { path, options, monitoring in
      let server = ContextUnderTest(engine: .postgres, at: try PostgresCluster.url(), storeOption: "schema")
      return try server.open(path, options, monitoring)
    }
  }
#endif
