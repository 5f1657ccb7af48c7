import Foundation
import GRDB

/// GRDB with a pool, for one of its kinds of records.
final class GRDBContender<Record: FetchableRecord & PersistableRecord & MovieRecord> {
  private let pool: DatabasePool
  private let folder: Folder
  private let input: Input
  private let records: [Record]
  private let singles: [Record]
  private let changes: [Record]

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    self.input = input
    records = input.movies.map(Record.init)
    singles = input.singles.map(Record.init)
    changes = input.changes.map(Record.init)
    pool = try Self.open(folder.path("grdb.sqlite"))
    try Self.makeTables(pool)
    try pool.write { [records] database in
      for record in records { try record.insert(database) }
      try database.execute(sql: "INSERT INTO indexed SELECT * FROM movie")
    }
    let opened = try Self.open(folder.path("opened.sqlite"))
    try Self.makeTables(opened)
    try opened.write { [singles] database in for record in singles { try record.insert(database) } }
    try opened.close()
  }

  /// The same settings as the others: durable commits, and fast secure deletion.
  private static func open(_ path: String) throws -> DatabasePool {
    let pool = try DatabasePool(path: path)
    // Set on the writer at this point, because a pool sets `synchronous` itself.
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST")
    }
    return pool
  }

  private static func makeTables(_ pool: DatabasePool) throws {
    try pool.write { database in
      for name in ["movie", "indexed"] {
        try database.create(table: name) { table in
          table.primaryKey("id", .integer)
          table.column("uuid", .blob).notNull()
          table.column("title", .text).notNull()
          table.column("genre", .text).notNull()
          table.column("budget", .double).notNull()
          table.column("gross", .double)
          table.column("rating", .text).notNull()
          table.column("releasedAt", .double).notNull()
          table.column("votes", .integer).notNull()
          table.column("overview", .text).notNull()
        }
      }
      try database.create(index: "indexedByVotes", on: "indexed", columns: ["votes"])
    }
  }

  private func withNewStore(_ body: (DatabasePool) throws -> Answer) throws -> Answer {
    try folder.remove("new")
    let pool = try Self.open(folder.path("new.sqlite"))
    try Self.makeTables(pool)
    let answer = try body(pool)
    try pool.close()
    return answer
  }

  private func content(of pool: DatabasePool) throws -> Answer {
    try pool.read { database in
      Answer(try Record.order(Column("id")).fetchAll(database).lazy.map(\.movie))
    }
  }

  private func select(from table: String) throws -> [Record] {
    try pool.read { database in
      try Table<Record>(table).filter(Column("votes") >= Input.manyVotes)
        .order(Column("title"), Column("id")).fetchAll(database)
    }
  }
}

/// Reading.
extension GRDBContender {
  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    let found = try watch.measure {
      try pool.read { database in try Record.order(Column("id")).fetchAll(database) }
    }
    return Answer(found.lazy.map(\.movie))
  }

  func iterate(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure {
      try pool.read { database in
        var answer = Answer()
        let cursor = try Record.order(Column("id")).fetchCursor(database)
        while let record = try cursor.next() { answer.addLightly(record.movie) }
        return answer
      }
    }
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for key in input.keys {
        let record = try pool.read { database in try Record.fetchOne(database, key: key) }
        if let record { answer.addLightly(record.movie) }
      }
    }
    return answer
  }

  func selectByIndex(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try select(from: "indexed") }.lazy.map(\.movie))
  }

  func selectByScan(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try select(from: "movie") }.lazy.map(\.movie))
  }

  func open(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    for movie in input.singles.prefix(Library.openings) {
      let (found, other) = try watch.measure {
        let other = try Self.open(folder.path("opened.sqlite"))
        return (try other.read { database in try Record.fetchOne(database, key: movie.id) }, other)
      }
      if let found { answer.add(found.movie) }
      try other.close()
    }
    return answer
  }
}

/// Writing.
extension GRDBContender {
  func insertAll(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore { pool in
      try watch.measure {
        try pool.write { database in for record in records { try record.insert(database) } }
      }
      return try content(of: pool)
    }
  }

  func insertSingles(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore { pool in
      try watch.measure {
        for record in singles { try pool.write { database in try record.insert(database) } }
      }
      return try content(of: pool)
    }
  }

  func update(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure {
      try pool.write { database in for record in changes { try record.update(database) } }
    }
    return try content(of: pool)
  }

  func deleteAll(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore { pool in
      try pool.write { database in for record in records { try record.insert(database) } }
      try watch.measure { _ = try pool.write { database in try Record.deleteAll(database) } }
      return try content(of: pool)
    }
  }
}
