import CSQLite

/// Settings of the SQLite library, which apply to the whole process.
public enum SQLiteLibrary {
  /// Configures SQLite so that threads that read in parallel wait less for each other.
  ///
  /// Call it once, when the program starts and before any thread uses SQLite. This package never calls it by itself,
  /// since the settings also apply to other users of SQLite in the process.
  ///
  /// - With glibc, SQLite's mutexes spin before the thread sleeps. Each read transaction locks a mutex that all
  ///   connections to a file share, for less than a microsecond; to sleep and wake takes fifty times as long.
  /// - If SQLite was built without lookaside memory, as in Debian and Ubuntu, it stops counting the memory that it
  ///   uses. Such a build allocates some twenty times a read, and counts each time under one lock. The SQLite
  ///   project recommends the setting (https://sqlite.org/compile.html, SQLITE_DEFAULT_MEMSTATUS). `sqlite3_memory_used` and
  ///   heap limits do not work then.
  ///
  /// - Returns: Whether SQLite accepted the settings; false if the process has already used SQLite, or SQLite was
  ///   built for a single thread.
  @discardableResult
  public static func tuneForParallelReads() -> Bool {
    guard sqlite3_threadsafe() != 0, persistence_sqlite3_use_adaptive_mutexes() == SQLITE_OK else {
      return false
    }
    return sqlite3_compileoption_used("OMIT_LOOKASIDE") == 0
      || persistence_sqlite3_omit_memory_statistics() == SQLITE_OK
  }
}
