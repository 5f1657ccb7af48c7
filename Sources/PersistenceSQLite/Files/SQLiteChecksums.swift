import CSQLite
import CSQLiteFiles
import PersistenceDriver

/// The checksums of a store's pages, which the file system of `CSQLiteFiles` writes and verifies.
///
/// Two properties of the file mark a store that has them: eight reserved bytes at the end of each page, and an application
/// ID of its own. They exist from the first write on, so every later opening verifies and maintains the checksums.
enum SQLiteChecksums {
  private static let registration = persistence_sqlite_files_register()

  /// The name of the file system for a connection.
  static func fileSystem(of store: SQLiteStore) throws -> String {
    guard registration == SQLITE_OK else {
      throw SQLiteErrorMapping.error(registration, nil, "register its file system", store.location)
    }
    return store.hasChecksums ? PERSISTENCE_SQLITE_CHECKED_FILES : PERSISTENCE_SQLITE_FILES
  }

  /// Makes an empty file a store with checksums, unless another process has written to it.
  static func begin(_ connection: SQLiteConnection, until deadline: ContinuousClock.Instant) throws {
    _ = reservedBytes(of: connection, requesting: PERSISTENCE_SQLITE_CHECKSUM_SIZE)
    try connection.beginWriting(until: deadline)
    do {
      if try connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty {
        try connection.execute(
          "PRAGMA application_id = \(PERSISTENCE_SQLITE_CHECKSUM_ID)", "mark the new file")
      }
    } catch {
      connection.rollBack()
      throw error
    }
    try connection.commit(until: deadline)
  }

  /// Whether the file of a connection has checksums.
  static func areKept(by connection: SQLiteConnection) throws -> Bool {
    guard reservedBytes(of: connection, requesting: -1) == PERSISTENCE_SQLITE_CHECKSUM_SIZE else {
      return false
    }
    return try connection.rows("PRAGMA application_id")
      == [[.integer(Int64(PERSISTENCE_SQLITE_CHECKSUM_ID))]]
  }

  /// Throws unless a store has checksums as wanted: pages get room for them only when a store is created.
  static func require(_ wanted: Bool?, _ store: SQLiteStore) throws {
    guard let wanted, wanted != store.hasChecksums else { return }
    throw PersistenceError(
      .unsupported,
      wanted
        ? "the store was created without checksums; copy it to a new one that is opened with checksums=true"
        : "the store was created with checksums; copy it to a new one that is opened without checksums=true",
      location: store.location)
  }

  /// The number of bytes that a file reserves in each page; a request counts for an empty file.
  private static func reservedBytes(of connection: SQLiteConnection, requesting wanted: Int32) -> Int32 {
    var count = wanted
    let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
    return code == SQLITE_OK ? count : 0
  }
}
