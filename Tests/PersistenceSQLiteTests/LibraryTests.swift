#if canImport(Glibc)
  import CSQLite
  import Glibc
  import PersistenceSQLite
  import Testing

  @Suite("What is set in SQLite for the whole process")
  struct LibraryTests {
    @Test("its mutexes are tried some times before a thread sleeps")
    func mutexes() throws {
      try Scratch().open().close()
      let made = try #require(sqlite3_mutex_alloc(SQLITE_MUTEX_FAST))
      defer { sqlite3_mutex_free(made) }
      // SQLite's own begin with the system's mutex, too, so that the question can be asked of either.
      let kind = UnsafeRawPointer(made).load(as: pthread_mutex_t.self).__data.__kind
      #expect(kind & 3 == Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
      sqlite3_mutex_enter(made)
      #expect(sqlite3_mutex_try(made) == SQLITE_BUSY)
      sqlite3_mutex_leave(made)
      #expect(sqlite3_mutex_try(made) == SQLITE_OK)
      sqlite3_mutex_leave(made)
    }

    @Test("a recursive one is entered again by the thread that has it, and a fixed one is the same each time")
    func kinds() throws {
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
#endif
