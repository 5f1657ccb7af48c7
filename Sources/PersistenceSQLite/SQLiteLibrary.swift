import CSQLite

/// What is set in SQLite itself, for the whole process, before it first works.
enum SQLiteLibrary {
  /// Lets readers take memory side by side, where SQLite was built without lookaside memory.
  ///
  /// Such a build, Debian's and Ubuntu's among them, takes each cursor and each text of a row from the heap, some
  /// twenty times a read, and every time counts the bytes under one lock of the process: two threads that read
  /// from two connections then wait for each other. Without the statistics there is no such lock; it is what
  /// SQLite's own makers recommend (https://sqlite.org/compile.html, SQLITE_DEFAULT_MEMSTATUS).
  ///
  /// Nothing is set where the program has used SQLite before: then it is the program's to configure. Whoever needs
  /// `sqlite3_memory_used` or a heap limit calls `sqlite3_initialize` before the first store is opened.
  static let isPrepared: Void = {
    if sqlite3_compileoption_used("OMIT_LOOKASIDE") != 0 {
      _ = persistence_sqlite3_omit_memory_statistics()
    }
  }()
}
