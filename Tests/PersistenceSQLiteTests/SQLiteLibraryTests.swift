#if canImport(Glibc)
  import CSQLite
  import Glibc
  import PersistenceSQLite
  import Testing

  /// Each test runs in a process of its own, since SQLite is configured once for a process.
  @Suite("SQLiteLibrary")
  struct LibraryTests {
    @Test("tuned mutexes spin before a thread sleeps")
    func adaptive() async {
      await #expect(processExitsWith: .success) {
        #expect(SQLiteLibrary.tuneForParallelReads())
        try Scratch().open().close()
        let made = try #require(sqlite3_mutex_alloc(SQLITE_MUTEX_FAST))
        defer { sqlite3_mutex_free(made) }
        #expect(LibraryTests.kind(of: made) == Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        sqlite3_mutex_enter(made)
        #expect(sqlite3_mutex_try(made) == SQLITE_BUSY)
        sqlite3_mutex_leave(made)
        #expect(sqlite3_mutex_try(made) == SQLITE_OK)
        sqlite3_mutex_leave(made)
      }
    }

    @Test("a tuned recursive mutex can be entered twice, and a static mutex is the same every time")
    func kinds() async {
      await #expect(processExitsWith: .success) {
        #expect(SQLiteLibrary.tuneForParallelReads())
        try Scratch().open().close()
        let made = try #require(sqlite3_mutex_alloc(SQLITE_MUTEX_RECURSIVE))
        defer { sqlite3_mutex_free(made) }
        sqlite3_mutex_enter(made)
        #expect(sqlite3_mutex_try(made) == SQLITE_OK)
        sqlite3_mutex_leave(made)
        sqlite3_mutex_leave(made)
        for number in SQLITE_MUTEX_STATIC_MAIN...SQLITE_MUTEX_STATIC_VFS3 {
          #expect(sqlite3_mutex_alloc(number) == sqlite3_mutex_alloc(number))
          #expect(sqlite3_mutex_alloc(number) != nil)
        }
      }
    }

    @Test(
      "a context changes no setting of the process, and tuning after its first use of SQLite returns false")
    func optIn() async {
      await #expect(processExitsWith: .success) {
        try Scratch().open().close()
        let made = try #require(sqlite3_mutex_alloc(SQLITE_MUTEX_FAST))
        defer { sqlite3_mutex_free(made) }
        #expect(LibraryTests.kind(of: made) != Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        #expect(!SQLiteLibrary.tuneForParallelReads())
      }
    }

    /// The kind of the system's mutex with which SQLite's own mutexes, and this package's, begin.
    private static func kind(of mutex: OpaquePointer) -> Int32 {
      UnsafeRawPointer(mutex).load(as: pthread_mutex_t.self).__data.__kind & 3
    }
  }
#endif
