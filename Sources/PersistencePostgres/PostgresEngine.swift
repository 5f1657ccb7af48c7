public import PersistenceDriver

extension StorageEngine {
  /// The engine for stores in PostgreSQL, with URLs such as `postgres://user@host:5432/database?schema=movies`.
  public static let postgres = engine("postgres")

  /// The same engine with the other scheme that PostgreSQL's own programs accept.
  public static let postgresql = engine("postgresql")

  private static func engine(_ scheme: String) -> StorageEngine {
    StorageEngine(
      scheme: scheme, options: PostgresConfiguration.options + PostgresAddress.options, hasFiles: false
    ) {
      url, options, monitoring in
      try PostgresContext(url, PostgresConfiguration(monitoring: monitoring).applying(options))
    }
  }
}

extension PostgresConfiguration {
  /// The options of a URL that belong to this package rather than to libpq.
  static let options: [StoreOption] = [
    StoreOption("schema", .text, "the schema that contains the store; public by default"),
    StoreOption("busy", .duration, "how long a writer waits for another writer; 5s by default"),
    StoreOption("connect", .duration, "how long to wait for a connection; 10s by default"),
    StoreOption("timeout", .duration, "how long the server may take for a statement; no limit by default"),
    StoreOption("readonly", .flag, "whether to open the store read-only"),
    StoreOption("create", .flag, "whether to create a missing store; true by default"),
    StoreOption(
      "foreign", .flag,
      "whether the schema belongs to other programs, whose tables become models; by default, if it contains tables and no "
        + "store"),
    StoreOption(
      "views", .text,
      "views of other programs to include as models, which are read-only; separated by commas; a \\ escapes the next "
        + "character"),
    StoreOption("pool", .integer(1...256), "how many idle connections to keep open; 8 by default"),
    StoreOption(
      "pins", .integer(1...1_024),
      "how many moments results and snapshots may hold on the server; 16 by default"),
    StoreOption("pinlimit", .duration, "how long a result or snapshot may hold a moment; 5min by default"),
    StoreOption(
      "pooler", .choice(PostgresConfiguration.Pooler.allCases.map(\.rawValue)),
      "session, or transaction for a pooler such as PgBouncer that gives connections for one transaction"),
    StoreOption(
      "readers", .choice(PostgresConfiguration.Readers.allCases.map(\.rawValue)),
      "replica to read from a standby among the URL's servers, outside of transactions; primary by default"),
  ]

  /// The configuration with the options of a URL, which override it.
  func applying(_ options: StoreOptions) -> PostgresConfiguration {
    var configuration = self
    if let schema = options["schema"] { configuration.schema = schema }
    if let busy = options.duration("busy") { configuration.busyTimeout = busy }
    if let connect = options.duration("connect") { configuration.connectTimeout = connect }
    if let timeout = options.duration("timeout") { configuration.statementTimeout = timeout }
    if let isReadOnly = options.flag("readonly") { configuration.isReadOnly = isReadOnly }
    if let creates = options.flag("create") { configuration.createsMissingStore = creates }
    configuration.isForeign = options.flag("foreign") ?? isForeign
    if let views = options.names("views") { configuration.includedViews = views }
    if let size = options.integer("pool") { configuration.poolSize = size }
    if let pins = options.integer("pins") { configuration.pinLimit = pins }
    if let limit = options.duration("pinlimit") { configuration.pinTimeout = limit }
    if let pooler = options["pooler"].flatMap(PostgresConfiguration.Pooler.init(rawValue:)) {
      configuration.pooler = pooler
    }
    if let readers = options["readers"].flatMap(PostgresConfiguration.Readers.init(rawValue:)) {
      configuration.readers = readers
    }
    return configuration
  }
}
