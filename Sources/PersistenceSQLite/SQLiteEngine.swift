public import PersistenceDriver

extension StorageEngine {
  /// The engine for stores in one SQLite file, with URLs such as `sqlite:movies.sqlite?synchronous=full`.
  public static let sqlite = StorageEngine(
    scheme: "sqlite",
    options: [
      StoreOption(
        "synchronous", .choice(SQLiteConfiguration.Synchronous.allCases.map(\.rawValue)),
        "when SQLite waits until data is on disk; full by default"),
      StoreOption(
        "journal", .choice(SQLiteConfiguration.Journal.allCases.map(\.rawValue)),
        "wal, or delete, in which readers and writers block each other; wal for new files by default"),
      StoreOption("busy", .duration, "how long a writer waits for another writer; 5s by default"),
      StoreOption("readonly", .flag, "whether to open the store read-only"),
      StoreOption("create", .flag, "whether to create a missing file; true by default"),
      StoreOption(
        "pool", .integer(1...64), "how many idle connections for reading to keep open; 8 by default"),
      StoreOption(
        "survey", .flag,
        "whether to read other programs' tables completely, to find kinds that represent all their values; the store "
          + "is then read-only"),
      StoreOption(
        "views", .text,
        "views and virtual tables to include as models, separated by commas; a \\ escapes the next character; needs "
          + "survey=true"),
      StoreOption(
        "checksums", .flag,
        "whether a new store has checksums of its pages, which every later opening verifies; false by default"
      ),
      StoreOption(
        "clustered", .text,
        "models whose new tables keep their rows in the order of the key, besides models of small records; separated by "
          + "commas, a \\ escapes the next character"),
    ]
  ) { url, options, monitoring in
    guard !url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "a SQLite store needs a path, such as sqlite:movies.sqlite", location: "\(url)")
    }
    guard url.path != SQLiteOpening.memoryName else {
      throw PersistenceError(
        .invalidURL,
        "sqlite::memory: would be a file of that name; use memory: for a store in memory, or sqlite:./:memory: for the "
          + "file", location: "\(url)")
    }
    var configuration = SQLiteConfiguration(monitoring: monitoring)
    configuration.journal = options["journal"].flatMap(SQLiteConfiguration.Journal.init(rawValue:))
    if let synchronous = options["synchronous"].flatMap(SQLiteConfiguration.Synchronous.init(rawValue:)) {
      configuration.synchronous = synchronous
    }
    if let busy = options.duration("busy") { configuration.busyTimeout = busy }
    if let isReadOnly = options.flag("readonly") { configuration.isReadOnly = isReadOnly }
    if let creates = options.flag("create") { configuration.createsMissingFile = creates }
    configuration.checksums = options.flag("checksums")
    if let models = options.names("clustered") { configuration.clusteredModels = models }
    if let size = options.integer("pool") { configuration.poolSize = size }
    if let surveys = options.flag("survey") { configuration.surveysForeignTables = surveys }
    if let views = options.names("views") {
      guard configuration.surveysForeignTables else {
        throw PersistenceError(.invalidURL, "the option views needs survey=true", location: "\(url)")
      }
      configuration.includedViews = views
    }
    return try SQLiteContext(path: url.path, configuration: configuration)
  }
}
