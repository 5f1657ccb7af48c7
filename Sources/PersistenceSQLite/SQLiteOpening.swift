import CSQLite
import Foundation
import PersistenceDriver

/// The steps of opening a file: looking before anything is written, then making it ready.
///
/// The file is never opened but through SQLite: closing it would release the locks that other connections of
/// this process hold on it (https://sqlite.org/howtocorrupt.html, 2.2).
struct SQLiteOpening {
  let store: SQLiteStore
  /// The connection that the store was opened by, where it writes from now on: it has made the store.
  let writer: SQLiteConnection?
  /// The same, where it reads: a store that is only looked at needs no other connection.
  let reader: SQLiteConnection?
  private(set) var journal: SQLiteConfiguration.Journal
  let largestValue: Int
  /// What the log says about the opening.
  let details: String
  /// What the log says about a write-ahead log that was found.
  let recovered: String?

  init(path: String, configuration: SQLiteConfiguration) throws {
    let path = try Self.resolve(path, configuration)
    let logSize = Self.size(of: path + "-wal")
    store = SQLiteStore(path: path, configuration: configuration)
    let deadline = ContinuousClock.now + configuration.busyTimeout
    let connection = try SQLiteConnection(
      store, creating: configuration.createsMissingFile && !configuration.isReadOnly)
    guard sqlite3_threadsafe() != 0 else {
      throw PersistenceError.unsupported(
        "be used: it was built for a single thread", by: "this SQLite library")
    }
    largestValue = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1))
    let isNew = try Self.look(connection, configuration)
    journal = try Self.currentJournal(connection)
    if !configuration.isReadOnly {
      if let wanted = configuration.journal ?? (isNew ? .wal : nil), wanted != journal {
        try Self.set(wanted, connection, until: deadline)
        journal = wanted
      }
    }
    writer = isNew ? connection : nil
    reader = isNew ? nil : connection
    if isNew {
      try Self.prepareForWriting(connection)
      try Self.makeCatalog(connection, until: deadline)
    } else {
      try Self.prepareForReading(connection)
    }
    details =
      "SQLite \(String(cString: sqlite3_libversion())), journal \(journal.rawValue), synchronous "
      + "\(configuration.synchronous.rawValue)"
      + (configuration.isReadOnly ? ", for reading" : isNew ? ", a new file" : "")
    recovered =
      logSize > 0 && !SQLiteFiles.isOpen(path)
      ? "a write-ahead log of \(logSize) bytes lay beside the file, left by a process that did not close it or "
        + "used by one that runs; SQLite reads it" : nil
  }

  /// Looks at the file and reads its catalog; whether the file is a new one.
  private static func look(_ connection: SQLiteConnection, _ configuration: SQLiteConfiguration) throws
    -> Bool
  {
    let location = connection.store.location
    try connection.run(.begin)
    defer { connection.endReading() }
    // The first read finds out whether this is a database at all.
    let version = try connection.number(.schemaVersion)
    if !configuration.isReadOnly, sqlite3_db_readonly(connection.handle, "main") == 1 {
      throw PersistenceError.readOnly(location)
    }
    guard try connection.rows("PRAGMA encoding") == [[.text("UTF-8")]] else {
      throw PersistenceError(
        .unsupported,
        "the file keeps its text in UTF-16, whose order is not that of UTF-8; copy it into a new file with "
          + "sqlite3's .dump", location: location)
    }
    if try version == 0 && connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty {
      return !configuration.isReadOnly
    }
    try connection.refreshCatalog()
    return false
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The absolute path without links, once it is plain that something can be opened there.
  private static func resolve(_ path: String, _ configuration: SQLiteConfiguration) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw PersistenceError(.invalidURL, "a SQLite store needs a path, without U+0000")
    }
    // Absolute, so that SQLite takes neither `:memory:` nor `file:` for anything but a name.
    let absolute =
      path.utf8.first == UInt8(ascii: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var status = stat()
    if stat(absolute, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw PersistenceError(
          .notAStore, "a SQLite store is a file, and this is a folder or something else", location: absolute)
      }
      guard status.st_size > 0 || !configuration.isReadOnly else {
        throw PersistenceError(
          .notAStore, "the file is empty: there is nothing to read, and it was opened for reading only",
          location: absolute)
      }
      // SQLite itself would take a file of less than its least page for an empty one, and write over it.
      guard status.st_size == 0 || status.st_size >= 512 else {
        throw PersistenceError(
          .notAStore, "the file is too short for a SQLite database", location: absolute)
      }
      return realPath(absolute) ?? absolute
    }
    let reason = errno
    guard reason == ENOENT || reason == ENOTDIR else {
      throw PersistenceError(
        reason == EACCES ? .accessDenied : .inputOutput,
        "the file cannot be looked at: \(String(cString: strerror(reason)))", location: absolute)
    }
    guard configuration.createsMissingFile, !configuration.isReadOnly else {
      throw PersistenceError(
        .missingStore, "there is no such file, and it was not to be made", location: absolute)
    }
    let url = URL(fileURLWithPath: absolute)
    guard let folder = realPath(url.deletingLastPathComponent().path) else {
      throw PersistenceError(
        .missingStore, "the folder that the file would be made in does not exist; make it first",
        location: absolute)
    }
    return (folder == "/" ? "" : folder) + "/" + url.lastPathComponent
  }

  static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
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
          "the file cannot be given the journal \(journal.rawValue): other connections use it, or its file "
            + "system has no shared memory", location: connection.store.location)
      } catch let error as PersistenceError where error.code == .busy {
        // SQLite does not wait here by itself: another process may be making the same file.
        guard ContinuousClock.now < deadline else { throw error }
        Thread.sleep(forTimeInterval: 0.002)
        if try currentJournal(connection) == journal { return }
      }
    }
  }

  /// Settings of a connection that reads.
  static func prepareForReading(_ connection: SQLiteConnection) throws {
    guard !connection.store.configuration.isReadOnly else { return }
    // It was opened for writing, so that it can recover the log; it is not to change anything.
    try connection.execute("PRAGMA query_only = 1; PRAGMA wal_autocheckpoint = 0", "open a connection")
  }

  /// Settings of the connection that writes.
  static func prepareForWriting(_ connection: SQLiteConnection) throws {
    let synchronous = connection.store.configuration.synchronous
    var text = "PRAGMA synchronous = \(synchronous.rawValue);"
    // What is deleted is overwritten where that costs no further page to be written.
    text += "PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = 67108864;"
    #if canImport(Darwin)
      if synchronous == .full || synchronous == .extra {
        text += "PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;"
      }
    #endif
    try connection.execute(text, "set the connection up")
    // Writers wait by asking again, until their own deadlines.
    sqlite3_busy_timeout(connection.handle, 0)
  }

  /// Marks a new file as ours, unless another process was faster.
  private static func makeCatalog(
    _ connection: SQLiteConnection, until deadline: ContinuousClock.Instant
  ) throws {
    try connection.beginWriting(until: deadline)
    do {
      if try connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty {
        try connection.execute("PRAGMA application_id = \(SQLiteCatalog.applicationID)", "mark the new file")
        try connection.createCatalogTable()
      }
    } catch {
      connection.rollBack()
      throw error
    }
    try connection.commit(until: deadline)
    connection.forgetCatalog()
  }
}
