public import PersistenceDriver

extension StorageEngine {
  /// Directories of JSON files, by the scheme `json:`, as in `json:movies?synchronous=off`.
  public static let json = StorageEngine(
    scheme: "json",
    options: [
      StoreOption(
        "synchronous", .choice(JSONDirectoryConfiguration.Synchronization.allCases.map(\.rawValue)),
        "full: commits survive power failures; off: only kills of the process"),
      StoreOption("busy", .duration, "how long a writer waits for another writer"),
      StoreOption("readonly", .flag, "whether the store is read-only"),
      StoreOption("create", .flag, "whether to create a missing store"),
      StoreOption(
        "checksums", .flag,
        "whether the store keeps checksums of its records, so that verify tells an edit by hand from damage; unchanged by "
          + "default"),
    ]
  ) { url, options, monitoring in
    guard !url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "a JSON directory needs a path, as in json:movies", location: "\(url)")
    }
    return try JSONDirectoryContext(
      path: url.path,
      configuration: JSONDirectoryConfiguration(
        synchronization: options["synchronous"].flatMap(JSONDirectoryConfiguration.Synchronization.init)
          ?? .full,
        busyTimeout: options.duration("busy") ?? .seconds(5), isReadOnly: options.flag("readonly") ?? false,
        createsStore: options.flag("create") ?? true, checksums: options.flag("checksums"),
        monitoring: monitoring))
  }
}
