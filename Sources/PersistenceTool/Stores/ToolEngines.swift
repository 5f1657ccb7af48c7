package import PersistenceDriver
#if canImport(PersistenceJSON)
  import PersistenceJSON
#endif
#if canImport(PersistenceLMDB)
  import PersistenceLMDB
#endif
#if canImport(PersistenceSQLite)
  import PersistenceSQLite
#endif

/// The engines that this build of the tool has.
package enum ToolEngines {
  /// All engines that were built in; `memory:` is always there beside them.
  package static var all: [StorageEngine] {
    var engines: [StorageEngine] = []
    #if canImport(PersistenceSQLite)
      engines.append(.sqlite)
    #endif
    #if canImport(PersistenceLMDB)
      engines.append(.lmdb)
    #endif
    #if canImport(PersistenceJSON)
      engines.append(.json)
    #endif
    return engines
  }
}
