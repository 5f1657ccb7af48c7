/// The rows of the table: the contenders and the library's goals.
struct Workloads {
  let input: Input
  let folder: Folder

  /// Returns the workloads of an engine.
  func of(_ engine: Engine) throws -> [Workload] {
    func library() throws -> Library {
      try Library(Library.Location(engine: engine, folder: try Folder(folder.path("library"))), input)
    }
    return switch engine {
    case .sqlite: try sqlite(library())
    case .lmdb: try lmdb(library())
    case .json: try json(library())
    case .copy: try copying()
    }
  }

  private func sqlite(_ library: Library) throws -> [Workload] {
    let raw = try RawSQLite(try Folder(folder.path("raw")), input)
    let grdb = try GRDBContender<Movie>(try Folder(folder.path("grdb")), input)
    let codable = try GRDBContender<CodableMovie>(try Folder(folder.path("codable")), input)
    let rows = input.movies.count
    /// The four contenders with their implementations.
    func all(
      _ raw: @escaping Entrant.Run, _ library: @escaping Entrant.Run, _ grdb: @escaping Entrant.Run,
      _ codable: @escaping Entrant.Run
    ) -> [Entrant] {
      [
        Entrant(Names.raw, raw), Entrant(Names.library, library), Entrant(Names.grdb, grdb),
        Entrant(Names.grdbCodable, codable),
      ]
    }
    return [
      Workload(
        "fetch all into an array", rows, "row", goal: 1.15,
        all(raw.fetchAll, library.fetchAll, grdb.fetchAll, codable.fetchAll)),
      Workload(
        "iterate, keep nothing (of the array)", rows, "row", goal: 0.85, of: Names.rawArray,
        [Entrant(Names.rawArray) { try raw.fetchAllLightly(&$0) }]
          + all(raw.iterate, library.iterate, grdb.iterate, codable.iterate)),
      Workload(
        "get by key", input.keys.count, "get", goal: 1.3,
        all(raw.getByKey, library.getByKey, grdb.getByKey, codable.getByKey)),
    ] + (try otherKeys(library, raw)) + [
      Workload(
        "filter and sort, index", 1, "query", goal: 1.1,
        all(raw.selectByIndex, library.selectByIndex, grdb.selectByIndex, codable.selectByIndex)),
      Workload(
        "filter and sort, no index", 1, "query", goal: 1.05,
        all(raw.selectByScan, library.selectByScan, grdb.selectByScan, codable.selectByScan)),
      Workload(
        "insert in one transaction", rows, "row", goal: 1.25,
        all(raw.insertAll, library.insertAll, grdb.insertAll, codable.insertAll)),
      Workload(
        "one durable transaction a row", input.singles.count, "row", goal: 1.05,
        all(raw.insertSingles, library.insertSingles, grdb.insertSingles, codable.insertSingles)),
      Workload(
        "delete all", 1, "statement", goal: 1.05,
        all(raw.deleteAll, library.deleteAll, grdb.deleteAll, codable.deleteAll)),
      Workload(
        "open and get one", Library.openings, "opening", goal: 1.5,
        all(raw.open, library.open, grdb.open, codable.open)),
      // Last, because it changes the stores.
      Workload(
        "update by key", input.changes.count, "row", goal: 1.15,
        all(raw.update, library.update, grdb.update, codable.update)),
    ]
  }

  private func lmdb(_ library: Library) throws -> [Workload] {
    let raw = try RawLMDB(try Folder(folder.path("raw")), input)
    let codable = try CodableLMDB(try Folder(folder.path("codable")), input)
    let sqlite = try RawSQLite(try Folder(folder.path("sqlite")), input)
    let rows = input.movies.count
    let (own, naive) = (Names.library, Names.codable)
    return [
      Workload(
        "fetch all into an array", rows, "row", goal: 1.2,
        [
          Entrant(Names.raw, raw.fetchAll), Entrant(own, library.fetchAll), Entrant(naive, codable.fetchAll),
        ]),
      Workload(
        "get by key", input.keys.count, "get", goal: 1.4,
        [
          Entrant(Names.raw, raw.getByKey), Entrant(own, library.getByKey), Entrant(naive, codable.getByKey),
        ]),
    ] + (try otherKeys(library, folder)) + [
      Workload(
        "filter and sort, no index (of SQLite's)", 1, "query", goal: 0.65, of: Names.rawSQLite,
        [
          Entrant(Names.rawSQLite, sqlite.selectByScan), Entrant(Names.raw, raw.selectByScan),
          Entrant(own, library.selectByScan), Entrant(naive, codable.selectByScan),
        ]),
      Workload(
        "filter and sort, index (of SQLite's)", 1, "query", goal: 0.75, of: Names.rawSQLite,
        [
          Entrant(Names.rawSQLite, sqlite.selectByIndex), Entrant(Names.raw, raw.selectByIndex),
          Entrant(own, library.selectByIndex),
        ]),
      Workload(
        "count, predicate in place (of SQLite's)", 1, "query", goal: 0.6, of: Names.rawSQLite,
        [
          Entrant(Names.rawSQLite, sqlite.count), Entrant(Names.raw, raw.count), Entrant(own, library.count),
          Entrant(naive, codable.count),
        ]),
      Workload(
        "insert in one transaction", rows, "row", goal: 1.4,
        [
          Entrant(Names.raw, raw.insertAll), Entrant(own, library.insertAll),
          Entrant(naive, codable.insertAll),
        ]),
      Workload(
        "the same with an index", rows, "row", goal: 1.2,
        [Entrant(Names.raw, raw.insertAllIndexed), Entrant(own, library.insertAllIndexed)]),
      Workload(
        "open and get one", Library.openings, "opening", goal: 1.5,
        [Entrant(Names.raw, raw.open), Entrant(own, library.open)]),
    ]
  }

  private func json(_ library: Library) throws -> [Workload] {
    let files = try JSONFolder(try Folder(folder.path("files")), input)
    let raw = RawFiles(files, folder, input)
    let (own, naive) = (Names.library, Names.codable)
    let folder = folder
    return [
      Workload(
        "load all", input.movies.count, "file", goal: 2,
        [
          Entrant(Names.raw, raw.fetchAll), Entrant(own, library.fetchAll), Entrant(naive, files.fetchAll),
        ]),
      Workload(
        "get by key", input.keys.count, "get", goal: 2.5,
        [
          Entrant(Names.raw, raw.getByKey), Entrant(own, library.getByKey), Entrant(naive, files.getByKey),
        ]),
      Workload(
        "\(input.singles.count) durable in one transaction", input.singles.count, "file", goal: 0.8,
        [
          Entrant(Names.raw, raw.insertSinglesTogether), Entrant(own, library.insertSinglesTogether),
          Entrant(naive) { try files.insertSinglesTogether(&$0, in: folder) },
        ]),
    ]
  }
}

/// Keys that are not numbers.
extension Workloads {
  private func otherKeys(_ library: Library, _ raw: RawSQLite) throws -> [Workload] {
    try library.fillByOtherKeys()
    try raw.fillByOtherKeys()
    return otherKeys(
      (raw.fetchAllByTitle, raw.getByTitle, raw.fetchAllByUUID, raw.getByUUID), library, goals: (1.15, 1.3))
  }

  private func otherKeys(_ library: Library, _ folder: Folder) throws -> [Workload] {
    try library.fillByOtherKeys()
    let raw = try RawLMDBByOtherKeys(try Folder(folder.path("raw")), input)
    return otherKeys(
      (raw.fetchAllByTitle, raw.getByTitle, raw.fetchAllByUUID, raw.getByUUID), library, goals: (1.2, 1.4))
  }

  private func otherKeys(
    _ raw: (Entrant.Run, Entrant.Run, Entrant.Run, Entrant.Run), _ library: Library,
    goals: (fetch: Double, get: Double)
  ) -> [Workload] {
    let (rows, own) = (input.movies.count, Names.library)
    return [
      Workload(
        "fetch all, string keys", rows, "row", goal: goals.fetch,
        [Entrant(Names.raw, raw.0), Entrant(own, library.fetchAllByTitle)]),
      Workload(
        "get by key, string keys", input.titles.count, "get", goal: goals.get,
        [Entrant(Names.raw, raw.1), Entrant(own, library.getByTitle)]),
      Workload(
        "fetch all, UUID keys", rows, "row", goal: goals.fetch,
        [Entrant(Names.raw, raw.2), Entrant(own, library.fetchAllByUUID)]),
      Workload(
        "get by key, UUID keys", input.uuids.count, "get", goal: goals.get,
        [Entrant(Names.raw, raw.3), Entrant(own, library.getByUUID)]),
    ]
  }
}

/// Copies of whole stores between engines.
extension Workloads {
  private func copying() throws -> [Workload] {
    let raw = try RawCopying(folder.new("raw"), input)
    let library = try LibraryCopying(folder.new("library"), input)
    let (rows, own) = (input.movies.count, Names.library)
    // The cheapest of them is the reference for all three.
    return [
      Workload(
        "SQLite to LMDB", rows, "row", goal: 1.6,
        [Entrant(Names.raw, raw.sqliteToLMDB), Entrant(own) { try library.copy(.sqlite, .lmdb, &$0) }]),
      Workload(
        "LMDB to SQLite (of SQLite to LMDB)", rows, "row", goal: 2.5, of: Names.rawToLMDB,
        [
          Entrant(Names.rawToLMDB, raw.sqliteToLMDB), Entrant(Names.raw, raw.lmdbToSQLite),
          Entrant(own) { try library.copy(.lmdb, .sqlite, &$0) },
        ]),
      Workload(
        "SQLite to SQLite (of SQLite to LMDB)", rows, "row", goal: 2.8, of: Names.rawToLMDB,
        [
          Entrant(Names.rawToLMDB, raw.sqliteToLMDB), Entrant(Names.raw, raw.sqliteToSQLite),
          Entrant(own) { try library.copy(.sqlite, .sqlite, &$0) },
        ]),
      // Verification by digest costs less than copying.
      Workload(
        "SQLite to LMDB, verified (of not)", rows, "row", goal: 2, of: Names.unverified,
        [
          Entrant(Names.unverified) { try library.copy(.sqlite, .lmdb, &$0) },
          Entrant(own) { try library.copy(.sqlite, .lmdb, verification: .digest, &$0) },
        ]),
      Workload(
        "LMDB to SQLite, verified (of not)", rows, "row", goal: 2, of: Names.unverified,
        [
          Entrant(Names.unverified) { try library.copy(.lmdb, .sqlite, &$0) },
          Entrant(own) { try library.copy(.lmdb, .sqlite, verification: .digest, &$0) },
        ]),
    ]
  }
}
