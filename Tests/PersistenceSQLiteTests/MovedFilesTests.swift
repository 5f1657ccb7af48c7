import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Links to a store's file, and files that other programs remove or replace (contract C2, E5, E8).
@Suite struct MovedFilesTests {
  private let scratch: Scratch
  private let schema: ModelSchema
  private let files = FileManager.default

  init() throws {
    scratch = try Scratch()
    schema = try Fixtures.movies()
  }

  private func make(_ name: String, _ keys: Range<Int>) throws {
    let context = try scratch.open(name)
    try context.fill(schema, keys)
    try context.close()
  }

  private func count(_ context: SQLiteContext) throws -> Int { try context.count(FetchRequest(schema)) }

  @Test(
    "C2 W5 a file with two names is unsupported, and nothing is written: each name would have a log of its own"
  )
  func hardLinks() throws {
    try make("store.sqlite", 0..<3)
    let link = scratch.path("link.sqlite")
    try files.linkItem(atPath: scratch.path(), toPath: link)
    let content = try scratch.bytes("store.sqlite")
    for name in ["store.sqlite", "link.sqlite"] {
      for isReadOnly in [false, true] {
        let error = try #require(throws: PersistenceError.self) {
          try scratch.open(name) { $0.isReadOnly = isReadOnly }
        }
        #expect(error.code == .unsupported && error.message.contains("hard links"), "\(error)")
      }
    }
    #expect(try scratch.bytes("store.sqlite") == content)
    #expect(
      try files.contentsOfDirectory(atPath: scratch.folder.path).sorted() == ["link.sqlite", "store.sqlite"])
    try files.removeItem(atPath: link)
    let context = try scratch.open()
    // A file without a log, as in a tree of linked packages, can be read.
    let packed = scratch.path("packed.sqlite")
    let writer = try scratch.open("packed.sqlite") { $0.journal = .delete }
    try writer.fill(schema, 0..<2)
    try writer.close()
    try files.linkItem(atPath: packed, toPath: link)
    #expect(code { _ = try scratch.open("packed.sqlite") } == .unsupported)
    let reader = try scratch.open("packed.sqlite") { $0.isReadOnly = true }
    #expect(try count(reader) == 2)
    try reader.close()
    try files.removeItem(atPath: link)
    // A program that links the file for a backup stops no writer, and nobody opens it by the other name.
    try files.linkItem(atPath: scratch.path(), toPath: link)
    try context.fill(schema, 3..<4)
    #expect(code { _ = try scratch.open("link.sqlite") } == .unsupported)
    try files.removeItem(atPath: link)
    try context.fill(schema, 4..<5)
    #expect(try count(context) == 5)
  }

  @Test("E5 a symbolic link to a missing file beside its log is damaged, and the log is kept")
  func danglingLinks() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<3)
    let log = try scratch.bytes("store.sqlite-wal")
    #expect(!log.isEmpty)
    try log.write(to: URL(fileURLWithPath: scratch.path("target.sqlite-wal")))
    try files.createSymbolicLink(
      atPath: scratch.path("link.sqlite"), withDestinationPath: "target.sqlite")
    try files.createSymbolicLink(
      atPath: scratch.path("second.sqlite"), withDestinationPath: scratch.path("link.sqlite"))
    for name in ["link.sqlite", "second.sqlite"] {
      let error = try #require(throws: PersistenceError.self) { try scratch.open(name) }
      #expect(error.code == .damaged && error.message.contains("target.sqlite-wal"), "\(error)")
    }
    #expect(!files.fileExists(atPath: scratch.path("target.sqlite")))
    #expect(try scratch.bytes("target.sqlite-wal") == log)
    try files.removeItem(atPath: scratch.path("target.sqlite-wal"))
    let opened = try scratch.open("second.sqlite")
    #expect(opened.location.hasSuffix("/target.sqlite"))
    try opened.fill(schema, 0..<1)
    #expect(try count(scratch.open("link.sqlite")) == 1)
  }

  @Test("E8 once another program has removed the log, no write is acknowledged", arguments: [true, false])
  func removedLog(isWriterOpen: Bool) throws {
    try make("store.sqlite", 0..<3)
    let context = try scratch.open()
    #expect(try count(context) == 3)
    if isWriterOpen { try context.execute("UPDATE Movie SET budget = 1") }
    try files.removeItem(atPath: scratch.path("store.sqlite-wal"))
    for _ in 0..<2 { #expect(code { try context.fill(schema, 3..<4) } == .missingStore) }
    #expect(code { try context.execute("DELETE FROM Movie") } == .missingStore)
    try context.close()
    let again = try scratch.open()
    #expect(try count(again) == 3)
    try again.fill(schema, 3..<4)
    #expect(try count(again) == 4)
  }

  @Test(
    "E8 C2 once another program has removed the log's index, no write is acknowledged, and no commit is lost",
    arguments: [
      (["-shm"], true, 9), (["-wal", "-shm"], true, 8), (["-shm"], false, 4), (["-wal", "-shm"], false, 4),
    ])
  func removedIndex(suffixes: [String], hasOtherWriter: Bool, records: Int) async throws {
    try make("store.sqlite", 0..<3)
    let context = try scratch.open()
    try context.fill(schema, 3..<4)
    for suffix in suffixes { try files.removeItem(atPath: scratch.path("store.sqlite" + suffix)) }
    if hasOtherWriter {
      await #expect(processExitsWith: .success) { [path = scratch.path() as String] in
        let other = try SQLiteContext(path: path)
        try other.fill(Fixtures.movies(), 10..<15)
        try other.close()
      }
    }
    // The second transaction exceeds the page cache, so that it writes into the log before it commits.
    for size in [100, 100_000] {
      #expect(code { try context.fill(schema, 20..<60, size: size) } == .missingStore)
    }
    #expect(code { _ = try context.rows("SELECT 1") } == nil)
    #expect(code { try context.execute("PRAGMA wal_checkpoint(TRUNCATE)") } == .missingStore)
    try context.close()
    let again = try scratch.open()
    #expect(try count(again) == records)
    try again.fill(schema, 70..<71)
    #expect(try count(again) == records + 1)
    #expect(try again.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test("E8 C2 a context whose file was replaced opens no connection to the new file; a new context does")
  func replaced() throws {
    try make("store.sqlite", 0..<3)
    try make("other.sqlite", 0..<5)
    let context = try scratch.open()
    let result = try context.fetch(FetchRequest(schema))
    for suffix in ["", "-wal", "-shm"] { try files.removeItem(atPath: scratch.path("store.sqlite" + suffix)) }
    try files.moveItem(atPath: scratch.path("other.sqlite"), toPath: scratch.path())
    // The writing connection, and the one that compares the states of results.
    #expect(code { try context.fill(schema, 3..<4) } == .missingStore)
    #expect(code { _ = try context.fetch(FetchRequest(schema)) } == .missingStore)
    let fresh = try scratch.open()
    #expect(fresh.observers !== context.observers)
    try fresh.fill(schema, 5..<6)
    #expect(try count(fresh) == 6)
    #expect(try result.count() == 3)
  }

  @Test(
    "W5 a transaction whose rollback journal another program has removed is acknowledged, since the store holds it",
    arguments: [SQLiteConfiguration.Synchronous.off, .full])
  func removedJournal(synchronous: SQLiteConfiguration.Synchronous) throws {
    let context = try scratch.open {
      $0.journal = .delete
      $0.synchronous = synchronous
    }
    try context.fill(schema, 0..<3)
    try context.transaction { transaction in
      try transaction.save([.integer(3), .text("three"), .null, .integer(3), .null], in: schema)
      try files.removeItem(atPath: scratch.path("store.sqlite-journal"))
    }
    #expect(try count(context) == 4)
    #expect(try count(scratch.open()) == 4)
  }

  @Test("E8 with a rollback journal, a write to a removed file throws missingStore")
  func removedBesideJournal() throws {
    let context = try scratch.open { $0.journal = .delete }
    try context.fill(schema, 0..<3)
    try files.removeItem(atPath: scratch.path())
    for _ in 0..<2 { #expect(code { try context.fill(schema, 3..<4) } == .missingStore) }
  }

  @Test("W5 E8 a transaction whose file and rollback journal another program has moved is not acknowledged")
  func movedWithJournal() throws {
    let context = try scratch.open { $0.journal = .delete }
    try context.fill(schema, 0..<3)
    try context.close()
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(
      sqlite3_open_v2(scratch.path(), &handle, SQLITE_OPEN_READWRITE, "persistence") == SQLITE_OK)
    try #require(sqlite3_exec(handle, "BEGIN; CREATE TABLE other (id)", nil, nil, nil) == SQLITE_OK)
    for end in ["", "-journal"] {
      try files.moveItem(
        atPath: scratch.path("store.sqlite\(end)"), toPath: scratch.path("moved.sqlite\(end)"))
    }
    #expect(sqlite3_exec(handle, "COMMIT", nil, nil, nil) == SQLITE_IOERR)
    // The journal undoes the transaction.
    let moved = try scratch.open("moved.sqlite") { $0.journal = .delete }
    #expect(try moved.catalog().map(\.name) == [schema.name])
  }
}
