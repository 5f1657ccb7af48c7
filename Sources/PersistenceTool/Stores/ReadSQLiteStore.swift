#if SQLite
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceSQLite

  /// A SQLite store that a command reads, without the files that reading leaves beside it.
  ///
  /// A read-only connection creates an empty write-ahead log and its index, `-wal` and `-shm`. Only a connection that
  /// may write removes them, if it is the last of all processes to close.
  final class ReadSQLiteStore: StorageContextWrapper {
    let wrapped: any StorageContext

    init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

    func close() throws {
      try wrapped.close()
      var status = stat()
      // The commits in a longer log are for SQLite to keep or recover when another program opens the store.
      guard stat(location + "-wal", &status) == 0, status.st_size == 0 else { return }
      // A store that cannot be opened for writing keeps the files.
      let configuration = SQLiteConfiguration(createsMissingFile: false)
      try? SQLiteContext(path: location, configuration: configuration).close()
    }
  }
#endif
