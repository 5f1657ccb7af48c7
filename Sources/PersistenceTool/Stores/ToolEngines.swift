package import PersistenceDriver
import PersistenceJSON

#if LMDB
  import PersistenceLMDB
#endif
#if SQLite
  import PersistenceSQLite
#endif

/// The engines that this build of the tool has.
package enum ToolEngines {
  /// All engines that were built in, by the package's traits; `memory:` is always there beside them.
  package static var all: [StorageEngine] {
    var engines: [StorageEngine] = [.json]
    #if SQLite
      engines.append(.sqlite)
    #endif
    #if LMDB
      engines.append(.lmdb)
    #endif
    return engines
  }
}
