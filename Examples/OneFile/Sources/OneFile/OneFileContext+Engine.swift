public import PersistenceDriver

extension StorageEngine {
  /// Stores in one file, by the scheme `onefile:` and the file's path, as `onefile:movies.store`.
  public static let oneFile = StorageEngine(
    scheme: "onefile",
    options: [
      StoreOption("busy", .duration, "how long a writer waits for another"),
      StoreOption("readonly", .flag, "whether the store is only read"),
      StoreOption("create", .flag, "whether a store is made where there is none"),
    ]
  ) { url, options, monitoring in
    guard !url.path.isEmpty else {
      throw PersistenceError(.invalidURL, "a store in one file needs a path", location: "\(url)")
    }
    var configuration = OneFileConfiguration()
    configuration.busyTimeout = options.duration("busy") ?? configuration.busyTimeout
    configuration.isReadOnly = options.flag("readonly") ?? false
    configuration.creates = options.flag("create") ?? true
    return try OneFileContext(path: url.path, configuration: configuration, monitoring: monitoring)
  }
}
