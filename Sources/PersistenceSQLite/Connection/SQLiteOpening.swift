import CSQLite
import Foundation
import PersistenceDriver

/// The steps of opening a file: it inspects the file before it writes anything.
///
/// It opens the file through SQLite only. Closing another file descriptor would release the locks that this process's
/// other connections hold on the file (https://sqlite.org/howtocorrupt.html, 2.2).
struct SQLiteOpening {
  let store: SQLiteStore
  let monitor: ContextMonitor
  /// The opening connection, if it created the store; it becomes the writer.
  let writer: SQLiteConnection?
  /// The opening connection, if the store existed; it becomes the first reader.
  let reader: SQLiteConnection?
  private(set) var journal: SQLiteConfiguration.Journal
  let largestValue: Int
  private let isNew: Bool
  /// The log entry about a write-ahead log that the store was left with.
  let recovered: String?

  init(path: String, configuration: SQLiteConfiguration) throws {
    let (path, isPathReal) = try Self.resolve(path, configuration)
    let logSize = Self.size(of: path + "-wal")
    store = SQLiteStore(path: path, isPathReal: isPathReal, configuration: configuration)
    monitor = ContextMonitor(configuration.monitoring, location: store.location)
    let fillCount = monitor.fillCount
    let deadline = ContinuousClock.now + configuration.busyTimeout
    let connection = try SQLiteConnection(
      store, creating: configuration.createsMissingFile && !configuration.isReadOnly)
    guard sqlite3_threadsafe() != 0 else {
      throw PersistenceError.unsupported(
        "be used: it was built for a single thread", by: "this SQLite library")
    }
    largestValue = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1))
    let (isNew, hasLog) = try Self.inspect(connection, configuration)
    self.isNew = isNew
    // The first call need not read the catalog again.
    if connection.catalog?.names(StoredName(ReservedModel.fillLedger)) == false {
      monitor.noteComplete(before: fillCount)
    }
    if isNew, configuration.checksums == true { try SQLiteChecksums.begin(connection, until: deadline) }
    store.hasChecksums = try SQLiteChecksums.areKept(by: connection)
    try SQLiteChecksums.require(configuration.checksums, store)
    journal = try hasLog.map { $0 ? .wal : .delete } ?? Self.currentJournal(connection)
    if !configuration.isReadOnly {
      if let wanted = configuration.journal ?? (isNew ? .wal : nil), wanted != journal {
        try Self.set(wanted, connection, until: deadline)
        journal = wanted
      }
    }
    if isNew {
      try Self.prepareForWriting(connection)
      try Self.makeCatalog(connection, until: deadline)
    } else {
      try Self.prepareForReading(connection)
    }
    // If another process has given the new file checksums, a connection with their file system writes.
    let isWriter = isNew && store.hasChecksums == (configuration.checksums == true)
    writer = isWriter ? connection : nil
    reader = isNew ? nil : connection
    recovered =
      logSize > 0 && !SQLiteFiles.isOpen(store)
      ? "found a write-ahead log of \(logSize) bytes: another process has the store open or did not close it; SQLite "
        + "recovers the log" : nil
  }

  /// The log entry about the opening.
  var details: String {
    let configuration = store.configuration
    return "SQLite \(String(cString: sqlite3_libversion())), journal \(journal.rawValue), synchronous "
      + "\(configuration.synchronous.rawValue)"
      + (store.hasChecksums ? ", checksums" : "")
      + (configuration.isReadOnly ? ", for reading" : isNew ? ", a new file" : "")
  }

  /// Inspects the file and reads its catalog; returns whether the file is new, and whether SQLite keeps a write-ahead log,
  /// where the file's header tells.
  private static func inspect(_ connection: SQLiteConnection, _ configuration: SQLiteConfiguration) throws
    -> (isNew: Bool, hasLog: Bool?)
  {
    let location = connection.store.location
    try connection.run(.begin)
    defer { connection.endReading() }
    // The first read fails if the file is not a database.
    let version = try connection.number(.schemaVersion)
    if !configuration.isReadOnly, sqlite3_db_readonly(connection.handle, "main") == 1 {
      throw PersistenceError.readOnly(location)
    }
    let hasLog = headerTellsLog(connection)
    guard try hasLog != nil || connection.rows("PRAGMA encoding") == [[.text("UTF-8")]] else {
      throw PersistenceError(
        .unsupported,
        "the file stores text in UTF-16, which sorts differently from UTF-8; copy it to a new file with sqlite3's "
          + ".dump", location: location)
    }
    if try version == 0 && connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty {
      return (!configuration.isReadOnly, hasLog)
    }
    try connection.refreshCatalog(to: version)
    return (false, hasLog)
  }

  /// Whether SQLite keeps a write-ahead log, if the header of the file tells this, and that texts are in UTF-8.
  ///
  /// The connection is reading. What a log holds is newer than the file, and SQLite opens a log whatever the header tells.
  private static func headerTellsLog(_ connection: SQLiteConnection) -> Bool? {
    guard size(of: connection.store.path + "-wal") == 0, let header = SQLiteFileHeader(of: connection),
      header.isUTF8
    else { return nil }
    return header.hasLog
  }

  private static func currentJournal(_ connection: SQLiteConnection) throws -> SQLiteConfiguration.Journal {
    try connection.rows("PRAGMA journal_mode") == [[.text("wal")]] ? .wal : .delete
  }

  private static func set(
    _ journal: SQLiteConfiguration.Journal, _ connection: SQLiteConnection,
    until deadline: ContinuousClock.Instant
  ) throws {
    while true {
      do {
        let mode = try connection.rows("PRAGMA journal_mode = \(journal.rawValue)")
        if mode == [[.text(journal.rawValue)]] { return }
        throw PersistenceError(
          .unsupported,
          "cannot change the journal to \(journal.rawValue): other connections use the file, or its file system has "
            + "no shared memory", location: connection.store.location)
      } catch let error as PersistenceError where error.code == .busy {
        // SQLite's busy time-out does not apply here: another process may be creating the same file.
        guard ContinuousClock.now < deadline else { throw error }
        Thread.sleep(forTimeInterval: 0.002)
        if try currentJournal(connection) == journal { return }
      }
    }
  }

  /// Opens a connection that only tells whether the store has changed.
  ///
  /// With a rollback journal, a writer may lock it out. Then it throws `busy` at once, because whoever asks it may hold what
  /// that writer waits for.
  static func sentinel(of store: SQLiteStore) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(store)
    connection.setBusyTimeout(.zero)
    try prepareForReading(connection)
    return connection
  }

  /// Configures a connection for reading.
  static func prepareForReading(_ connection: SQLiteConnection) throws {
    connection.allowInterruption()
    guard !connection.store.configuration.isReadOnly else { return }
    // The connection is open for writing so that it can recover the log, but must not change anything.
    sqlite3_wal_autocheckpoint(connection.handle, 0)
    try connection.execute("PRAGMA query_only = 1", "open a connection")
  }

  /// Configures a connection for writing.
  static func prepareForWriting(_ connection: SQLiteConnection) throws {
    let synchronous = connection.store.configuration.synchronous
    // With a rollback journal, a power loss after a commit could restore the deleted journal, which undoes the commit.
    let level = synchronous == .full ? SQLiteConfiguration.Synchronous.extra : synchronous
    var text = "PRAGMA synchronous = \(level.rawValue);"
    // FAST overwrites deleted content where that writes no additional page.
    text += "PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = 67108864;"
    #if canImport(Darwin)
      if synchronous == .full || synchronous == .extra {
        text += "PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;"
      }
    #endif
    try connection.execute(text, "configure the connection")
    // Writers poll until their own deadlines instead.
    connection.setBusyTimeout(.zero)
  }

  /// Creates the catalog in a new file, unless another process has done so.
  static func makeCatalog(_ connection: SQLiteConnection, until deadline: ContinuousClock.Instant) throws {
    let store = connection.store
    try connection.beginWriting(until: deadline)
    do {
      // Since this process inspected the file, another one may have made it a store with checksums.
      store.hasChecksums = try SQLiteChecksums.areKept(by: connection)
      try SQLiteChecksums.require(store.configuration.checksums, store)
      if try connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty {
        if !store.hasChecksums {
          try connection.execute(
            "PRAGMA application_id = \(SQLiteCatalog.applicationID)", "mark the new file")
        }
        try connection.createCatalogTable()
      }
    } catch {
      connection.rollBack()
      throw error
    }
    try connection.commit(until: deadline)
    connection.discardCatalog()
  }
}
