import CSQLite
import Foundation
import PersistenceDriver

/// The steps of opening a file: it inspects the file before it writes anything.
///
/// It opens the file through SQLite only. Closing another file descriptor would release the locks that this process's
/// other connections hold on the file (https://sqlite.org/howtocorrupt.html, 2.2).
struct SQLiteOpening {
  let store: SQLiteStore
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

  /// Inspects the file and reads its catalog; returns whether the file is new, and whether it has a write-ahead log, as far
  /// as its header tells.
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
    let header = SQLiteFileHeader(of: connection)
    guard try header?.isUTF8 == true || connection.rows("PRAGMA encoding") == [[.text("UTF-8")]] else {
      throw PersistenceError(
        .unsupported,
        "the file stores text in UTF-16, which sorts differently from UTF-8; copy it to a new file with sqlite3's "
          + ".dump", location: location)
    }
    if try version == 0 && connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty {
      return (!configuration.isReadOnly, header?.hasLog)
    }
    try connection.refreshCatalog(to: version)
    return (false, header?.hasLog)
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The name by which SQLite itself opens a database in memory.
  static let memoryName = ":memory:"

  /// The absolute path without symbolic links, after checks that the file can be opened or created; and whether the
  /// system has resolved it as that of an existing file.
  private static func resolve(_ path: String, _ configuration: SQLiteConfiguration) throws -> (
    path: String, isReal: Bool
  ) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw PersistenceError(.invalidURL, "a SQLite store needs a path without U+0000")
    }
    guard path != memoryName else {
      throw PersistenceError(
        .invalidURL,
        "the path :memory: would be a file of that name; use MemoryContext for a store in memory, or the path ./:memory: "
          + "for the file")
    }
    // In an absolute path SQLite does not interpret `:memory:` or `file:`.
    let absolute =
      path.utf8.first == UInt8(ascii: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var status = stat()
    if stat(absolute, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw PersistenceError(
          .notAStore, "a SQLite store is a regular file; this is a folder or a special file",
          location: absolute)
      }
      guard status.st_size > 0 || !configuration.isReadOnly else {
        throw PersistenceError(
          .notAStore, "the file is empty, and the store was opened read-only",
          location: absolute)
      }
      // SQLite would treat a file smaller than its smallest page as empty, and overwrite it.
      guard status.st_size == 0 || status.st_size >= 512 else {
        throw PersistenceError(
          .notAStore, "the file is too short for a SQLite database", location: absolute)
      }
      let real = realPath(absolute)
      let resolved = real ?? absolute
      if status.st_size == 0 { try requireNoRemains(of: resolved, isMissing: false) }
      return (resolved, real != nil)
    }
    let reason = errno
    guard reason == ENOENT || reason == ENOTDIR else {
      throw PersistenceError(
        reason == EACCES ? .accessDenied : .inputOutput,
        "the file cannot be inspected: \(String(cString: strerror(reason)))", location: absolute)
    }
    // SQLite would create the target of a symbolic link.
    let missing = linkTarget(of: absolute)
    try requireNoRemains(of: missing, isMissing: true)
    guard configuration.createsMissingFile, !configuration.isReadOnly else {
      throw PersistenceError(
        .missingStore, "the file does not exist, and the store was opened without creating it",
        location: absolute)
    }
    let url = URL(fileURLWithPath: missing)
    guard let folder = realPath(url.deletingLastPathComponent().path) else {
      throw PersistenceError(
        .missingStore, "the file's folder does not exist; create it first",
        location: absolute)
    }
    return ((folder == "/" ? "" : folder) + "/" + url.lastPathComponent, false)
  }

  /// The path to which symbolic links lead from the last name of a path on.
  private static func linkTarget(of path: String) -> String {
    var path = path
    // Linux follows no more than 40 links.
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
      path = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
    }
    return path
  }

  /// Throws if a store has left a log beside a file that is missing or empty: SQLite would delete the log.
  private static func requireNoRemains(of path: String, isMissing: Bool) throws {
    for suffix in isMissing ? ["-wal", "-journal"] : ["-wal"] {
      var status = stat()
      guard stat(path + suffix, &status) == 0, isMissing || status.st_size > 0 else { continue }
      // Another process may have created the store in the meantime.
      if stat(path, &status) == 0, isMissing || status.st_size > 0 { return }
      let name = URL(fileURLWithPath: path).lastPathComponent
      throw PersistenceError(
        .damaged,
        "the file \(name) is \(isMissing ? "missing" : "empty") beside \(name)\(suffix), which a store has left; nothing "
          + "was changed; restore \(name) from a backup, or remove \(name)\(suffix) to begin an empty store",
        location: path)
    }
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
