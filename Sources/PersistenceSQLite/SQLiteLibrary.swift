import CSQLite

/// What is set in SQLite itself, for the whole process, before it first works.
enum SQLiteLibrary {
  /// Lets readers work side by side.
  ///
  /// First, memory is no longer counted where SQLite was built without lookaside memory. Such a build, Debian's and
  /// Ubuntu's among them, takes each cursor and each text of a row from the heap, some
  /// twenty times a read, and every time counts the bytes under one lock of the process: two threads that read
  /// from two connections then wait for each other. Without the statistics there is no such lock; it is what
  /// SQLite's own makers recommend (https://sqlite.org/compile.html, SQLITE_DEFAULT_MEMSTATUS).
  ///
  /// Second, a thread tries a mutex some times before it goes to sleep, where the C library offers such mutexes (glibc).
  /// Every read transaction begins and ends under one that all connections of the process to a file share, for less
  /// than a microsecond: to sleep and be woken takes fifty times as long as to wait.
  ///
  /// Nothing is set where the program has used SQLite before: then it is the program's to configure. Whoever needs
  /// `sqlite3_memory_used`, a heap limit or other mutexes calls `sqlite3_initialize` before the first store is opened.
  static let isPrepared: Void = {
    if sqlite3_threadsafe() != 0 { _ = persistence_sqlite3_use_adaptive_mutexes() }
    if sqlite3_compileoption_used("OMIT_LOOKASIDE") != 0 {
      _ = persistence_sqlite3_omit_memory_statistics()
    }
  }()
}
