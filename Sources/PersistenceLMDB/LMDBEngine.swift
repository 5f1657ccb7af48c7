public import PersistenceDriver

extension StorageEngine {
  /// The LMDB engine, for URLs such as `lmdb:movies.lmdb?mapsize=16GiB`.
  public static let lmdb = lmdb(adding: []) { _, _ in }

  /// The LMDB engine with further URL options for tests, which `configure` applies.
  package static func lmdb(
    adding options: [StoreOption],
    _ configure: @escaping @Sendable (StoreOptions, inout LMDBConfiguration) -> Void
  ) -> StorageEngine {
    StorageEngine(scheme: "lmdb", options: lmdbOptions + options) { url, options, monitoring in
      guard !url.path.isEmpty else {
        throw PersistenceError(
          .invalidURL, "the URL of an LMDB store needs a path, such as lmdb:movies.lmdb", location: "\(url)")
      }
      var configuration = LMDBConfiguration(options, monitoring)
      configure(options, &configuration)
      return try LMDBContext(path: url.path, configuration: configuration)
    }
  }

  private static let lmdbOptions = [
    StoreOption(
      "mapsize", .bytes(1 << 20...1 << 46),
      "the largest size of the store; by default, the size recorded in the store, or 1TiB for a new one"
    ),
    StoreOption(
      "sync", .choice(LMDBConfiguration.Synchronization.allCases.map(\.rawValue)),
      "what power loss may undo: nothing (full, the default), the last transaction (last), or everything "
        + "(off)"),
    StoreOption("busy", .duration, "how long a writer waits for another one; 5s by default"),
    StoreOption("readonly", .flag, "whether to open the store for reading only"),
    StoreOption("create", .flag, "whether to create a missing store; true by default"),
    StoreOption("readahead", .flag, "whether the system reads ahead in the file; true by default"),
    StoreOption(
      "readers", .integer(8...65_536),
      "the largest number of snapshots and concurrent reads of all processes; 510 by default"),
    StoreOption(
      "indexmemory", .bytes(1 << 12...1 << 34),
      "the memory for sorting while a copy builds its indexes; 24MiB by default"),
    StoreOption(
      "checks", .choice(LMDBConfiguration.Checks.allCases.map(\.rawValue)),
      "the pages that the opening checks: those of a small store (automatic, the default), or all (structure)"
    ),
  ]
}

extension LMDBConfiguration {
  /// Creates the configuration from the options of a URL.
  fileprivate init(_ options: StoreOptions, _ monitoring: Monitoring) {
    self.init(monitoring: monitoring)
    mapSize = options.bytes("mapsize")
    if let sync = options["sync"].flatMap(LMDBConfiguration.Synchronization.init(rawValue:)) {
      synchronization = sync
    }
    if let busy = options.duration("busy") { self.busyTimeout = busy }
    if let isReadOnly = options.flag("readonly") { self.isReadOnly = isReadOnly }
    if let creates = options.flag("create") { self.createsMissingStore = creates }
    if let readsAhead = options.flag("readahead") { self.readsAhead = readsAhead }
    if let readers = options.integer("readers") { self.maximumReaders = readers }
    if let memory = options.bytes("indexmemory") { self.indexMemory = memory }
    if let checks = options["checks"].flatMap(LMDBConfiguration.Checks.init(rawValue:)) {
      self.checks = checks
    }
  }
}
