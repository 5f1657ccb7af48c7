public import PersistenceDriver

extension StorageEngine {
  /// Stores in an LMDB folder, by the scheme `lmdb:`, such as `lmdb:movies.lmdb?mapsize=16GiB`.
  public static let lmdb = StorageEngine(
    scheme: "lmdb",
    options: [
      StoreOption(
        "mapsize", .bytes(1 << 20...1 << 46),
        "the largest size that the store may grow to; what is recorded in it, and 1TiB in a new one, by default"
      ),
      StoreOption(
        "sync", .choice(LMDBConfiguration.Synchronization.allCases.map(\.rawValue)),
        "what a loss of power may undo: nothing (full, the default), the last transaction (last), or everything "
          + "(off)"),
      StoreOption("busy", .duration, "how long a writer waits for another; 5s by default"),
      StoreOption("readonly", .flag, "whether the store may only be read"),
      StoreOption("create", .flag, "whether a missing store is made; true by default"),
      StoreOption("readahead", .flag, "whether the system reads ahead in the file; true by default"),
      StoreOption(
        "readers", .integer(8...65_536),
        "how many snapshots and reads all processes may have at once; 510 by default"),
      StoreOption(
        "indexmemory", .bytes(1 << 12...1 << 34),
        "how much is sorted in memory where indexes are built at the end of a copy; 24MiB by default"),
      StoreOption(
        "plans", .choice(["best", "any"]),
        "whether a query takes the best plan, the default, or any that can answer it, which is for tests"),
    ]
  ) { url, options, monitoring in
    guard !url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "an LMDB store needs a path, such as lmdb:movies.lmdb", location: "\(url)")
    }
    var configuration = LMDBConfiguration(monitoring: monitoring)
    configuration.mapSize = options.bytes("mapsize")
    if let sync = options["sync"].flatMap(LMDBConfiguration.Synchronization.init(rawValue:)) {
      configuration.synchronization = sync
    }
    if let busy = options.duration("busy") { configuration.busyTimeout = busy }
    if let isReadOnly = options.flag("readonly") { configuration.isReadOnly = isReadOnly }
    if let creates = options.flag("create") { configuration.createsMissingStore = creates }
    if let readsAhead = options.flag("readahead") { configuration.readsAhead = readsAhead }
    if let readers = options.integer("readers") { configuration.maximumReaders = readers }
    if let memory = options.bytes("indexmemory") { configuration.indexMemory = memory }
    configuration.takesAnyPlan = options["plans"] == "any"
    return try LMDBContext(path: url.path, configuration: configuration)
  }
}
