import PersistenceConformance
package import PersistenceDriver
import PersistenceJSON

#if LMDB
  import PersistenceLMDB
#endif
#if Postgres
  import PersistencePostgres
#endif
#if SQLite
  import PersistenceSQLite
#endif

/// The engines of this build of the tool.
package enum ToolEngines {
  /// The engines that the package's traits enable; `memory:` is always available in addition.
  package static var all: [StorageEngine] {
    var engines: [StorageEngine] = [.json]
    #if SQLite
      engines.append(.sqlite)
    #endif
    #if LMDB
      engines.append(lmdb)
    #endif
    #if Postgres
      engines += [.postgres, .postgresql]
    #endif
    return engines
  }

  /// Applies the engines' settings for the whole process; the executable calls it before anything else.
  package static func prepareProcess() {
    #if SQLite
      SQLiteLibrary.tuneForParallelReads()
    #endif
  }

  #if LMDB
    /// LMDB with an option for the fuzzer: with `plans=any`, random plans answer the queries.
    package static let lmdb = StorageEngine.lmdb(
      adding: [
        StoreOption(
          "plans", .choice(["best", "any"]),
          "which plan answers a query: the cheapest (best, the default), or a random one (any), for tests")
      ]
    ) { options, configuration in
      if options["plans"] == "any" { configuration.planChooser = RandomPlanChooser().choose }
    }
  #endif
}
