public import PersistenceDriver

extension StorageEngine {
  /// Stores in one SQLite file, by the scheme `sqlite:`, such as `sqlite:movies.sqlite?synchronous=full`.
  public static let sqlite = StorageEngine(
    scheme: "sqlite",
    options: [
      StoreOption(
        "synchronous", .choice(SQLiteConfiguration.Synchronous.allCases.map(\.rawValue)),
        "when SQLite waits for the medium; full by default"),
      StoreOption(
        "journal", .choice(SQLiteConfiguration.Journal.allCases.map(\.rawValue)),
        "wal, or delete, where readers and writers wait for each other; wal in new files by default"),
      StoreOption("busy", .duration, "how long a writer waits for another; 5s by default"),
      StoreOption("readonly", .flag, "whether the store may only be read"),
      StoreOption("create", .flag, "whether a missing file is made; true by default"),
      StoreOption("pool", .integer(1...64), "how many connections for reading are kept open; 8 by default"),
      StoreOption(
        "survey", .flag,
        "whether tables made by others are read from end to end first, for kinds that hold all their values; the "
          + "store is only read then"),
      StoreOption(
        "views", .text,
        "views and virtual tables that are looked at as models, with commas between; a \\ takes the next character "
          + "literally; needs survey=true"),
    ]
  ) { url, options, monitoring in
    guard !url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "a SQLite store needs a path, such as sqlite:movies.sqlite", location: "\(url)")
    }
    var configuration = SQLiteConfiguration(monitoring: monitoring)
    configuration.journal = options["journal"].flatMap(SQLiteConfiguration.Journal.init(rawValue:))
    if let synchronous = options["synchronous"].flatMap(SQLiteConfiguration.Synchronous.init(rawValue:)) {
      configuration.synchronous = synchronous
    }
    if let busy = options.duration("busy") { configuration.busyTimeout = busy }
    if let isReadOnly = options.flag("readonly") { configuration.isReadOnly = isReadOnly }
    if let creates = options.flag("create") { configuration.createsMissingFile = creates }
    if let size = options.integer("pool") { configuration.poolSize = size }
    if let surveys = options.flag("survey") { configuration.surveysForeignTables = surveys }
    if let views = options["views"] {
      guard configuration.surveysForeignTables else {
        throw PersistenceError(.invalidURL, "the option views needs survey=true", location: "\(url)")
      }
      configuration.includedViews = names(views)
    }
    return try SQLiteContext(path: url.path, configuration: configuration)
  }
}

/// The names in a list with commas between them; a backslash takes the next character literally.
private func names(_ list: String) -> [String] {
  var names = [""]
  var isLiteral = false
  for character in list.unicodeScalars {
    if !isLiteral, character == "\\" {
      isLiteral = true
    } else if !isLiteral, character == "," {
      names.append("")
    } else {
      names[names.count - 1].unicodeScalars.append(character)
      isLiteral = false
    }
  }
  return names.filter { !$0.isEmpty }
}
