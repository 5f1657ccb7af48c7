public import PersistenceDriver

extension StorageEngine {
  /// The engine with the scheme `onefile:`, as in `onefile:movies.store`.
  public static let oneFile = StorageEngine(
    scheme: "onefile",
    options: [
      StoreOption("busy", .duration, "how long a writer waits for another writer"),
      StoreOption("readonly", .flag, "whether the store opens read-only"),
      StoreOption("create", .flag, "whether a missing store is created"),
    ]
  ) { url, options, monitoring in
    guard !url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "a onefile: URL needs a path, as in onefile:movies.store", location: "\(url)")
    }
    var configuration = OneFileConfiguration()
    configuration.busyTimeout = options.duration("busy") ?? configuration.busyTimeout
    configuration.isReadOnly = options.flag("readonly") ?? false
    configuration.creates = options.flag("create") ?? true
    return try OneFileContext(path: url.path, configuration: configuration, monitoring: monitoring)
  }
}
