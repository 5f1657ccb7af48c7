import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing
import PersistenceDriverSupport

/// Invalid and damaged files, and full disks (contract E5, E7).
@Suite struct FailureTests {
  let scratch: Scratch
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    schema = try Fixtures.movies()
  }

  @Test("E5 a missing folder, a missing file, a folder, and names that SQLite would interpret")
  func paths() throws {
    #expect(code { _ = try scratch.open("missing/store.sqlite") } == .missingStore)
    #expect(code { _ = try scratch.open("none.sqlite") { $0.isReadOnly = true } } == .missingStore)
    #expect(code { _ = try scratch.open("none.sqlite") { $0.createsMissingFile = false } } == .missingStore)
    #expect(code { _ = try SQLiteContext(path: scratch.folder.path) } == .notAStore)
    #expect(code { _ = try SQLiteContext(path: "") } == .invalidURL)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).isEmpty)
    for name in [":memory:", "file:x?mode=memory", "a b%20'\"?.sqlite"] {
      let context = try scratch.open(name)
      #expect(context.location.hasSuffix("/" + name))
      #expect(FileManager.default.fileExists(atPath: scratch.path(name)))
    }
  }

  @Test("E5 a file that is not a database is rejected and unchanged")
  func otherKinds() throws {
    let text = Data(String(repeating: "this is no database. ", count: 500).utf8)
    for (name, content) in [("text", text), ("short", Data("x".utf8)), ("zeros", Data(count: 9_000))] {
      try content.write(to: URL(fileURLWithPath: scratch.path(name)))
      #expect(code { _ = try scratch.open(name) } == .notAStore, "\(name)")
      #expect(code { _ = try scratch.open(name) { $0.isReadOnly = true } } == .notAStore, "\(name)")
      #expect(try scratch.bytes(name) == content)
    }
    // A process that was killed while it created the file leaves an empty file.
    try Data().write(to: URL(fileURLWithPath: scratch.path("empty")))
    #expect(code { _ = try scratch.open("empty") { $0.isReadOnly = true } } == .notAStore)
    #expect(try scratch.bytes("empty").isEmpty)
    try scratch.open("empty").fill(schema, 0..<1)
  }

  @Test("E5 reading a damaged page throws damaged, and the rest stays readable")
  func damaged() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<2_000, size: 500)
    try context.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try context.close()
    var content = try scratch.bytes("store.sqlite")
    let page = 4_096
    for number in 40..<60 {
      content.replaceSubrange(page * number..<page * number + 200, with: Data(count: 200))
    }
    try content.write(to: URL(fileURLWithPath: scratch.path("damaged.sqlite")))
    let damaged = try scratch.open("damaged.sqlite")
    #expect(try damaged.values(of: .integer(0), in: schema)?[0] == .integer(0))
    do {
      _ = try damaged.values(FetchRequest(schema))
      Issue.record("damage was not detected")
    } catch let error as PersistenceError {
      #expect(error.code == .damaged)
      #expect(error.engineError?.engine == "SQLite")
      #expect(error.location == damaged.location)
    }
    // A truncated file.
    try content.prefix(page * 30).write(to: URL(fileURLWithPath: scratch.path("cut.sqlite")))
    #expect(
      code { _ = try scratch.open("cut.sqlite").values(FetchRequest(schema)) } == .damaged)
  }

  @Test("R4 the error for a value of another kind names table, column and key")
  func mismatch() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<300)
    try Outsider(scratch.path()).execute("UPDATE Movie SET budget = 'much' WHERE id = 200")
    let results = try context.fetch(FetchRequest(schema))
    #expect(try results.read(from: 0, limit: 128) { _ in } == 128)
    do {
      _ = try results.read(from: 128, limit: 128) { _ in }
      Issue.record("text was read as a number")
    } catch let error as PersistenceError {
      #expect(error.code == .damaged)
      #expect(error.field == "budget")
      #expect(error.key == RecordKey([.integer(200)]))
      #expect(error.message.contains("“Movie”") && error.message.contains("holds text"))
    }
    #expect(try results.count() == 300)
    #expect(code { _ = try context.values(of: .integer(200), in: schema) } == .damaged)
  }

  @Test("E5 a read-only store rejects writes and creates no files")
  func readOnly() throws {
    let writer = try scratch.open()
    try writer.fill(schema, 0..<10)
    let reader = try scratch.open { $0.isReadOnly = true }
    #expect(reader.capabilities.isReadOnly)
    #expect(try reader.count(FetchRequest(schema)) == 10)
    #expect(code { try reader.transaction { _ in } } == .readOnly)
    #expect(code { try reader.execute("DELETE FROM Movie") } == .readOnly)
    #expect(code { _ = try writer.rows("DELETE FROM Movie") } == .invalidRequest)
    try writer.fill(schema, 10..<20)
    #expect(try reader.count(FetchRequest(schema)) == 20)
    try writer.close()
    // A file whose header makes it read-only for this version of SQLite.
    var content = try scratch.bytes("store.sqlite")
    content[18] = 3
    try content.write(to: URL(fileURLWithPath: scratch.path("newer.sqlite")))
    #expect(code { _ = try scratch.open("newer.sqlite") } == .readOnly)
    #expect(try scratch.bytes("newer.sqlite") == content)
  }

  @Test(
    "E7 a full store rejects writes, keeps what was committed, and accepts writes again once there is space")
  func full() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<100)
    // SQLite's own limit replaces a full disk: the error and the rollback are the same.
    try context.execute("PRAGMA max_page_count = 20")
    do {
      try context.fill(schema, 100..<5_000)
      Issue.record("more was written than there was space")
    } catch let error as PersistenceError {
      #expect(error.code == .storeFull)
      #expect(error.engineError?.code == 13)
    }
    // A closure that swallows the error does not commit half of its work.
    let outcome = code {
      try context.transaction { transaction in
        for number in 100..<5_000 {
          do {
            try transaction.save(
              [
                .integer(Int64(number)), .text(String(repeating: "y", count: 200)), .null, .integer(0), .null,
              ],
              in: schema)
          } catch { return }
        }
      }
    }
    let count = try context.count(FetchRequest(schema))
    #expect(outcome == .storeFull ? count == 100 : count > 100)
    try context.execute("PRAGMA max_page_count = 1000000")
    try context.fill(schema, 5_000..<5_100)
    #expect(try context.count(FetchRequest(schema)) == count + 100)
    #expect(try context.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test("E7 a full file system", .enabled(if: SmallDisk.isAvailable))
  func fullDisk() throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let disk = try #require(try SmallDisk(megabytes: 2, in: folder))
    defer { disk.unmount() }
    let path = disk.folder.appendingPathComponent("store.sqlite").path
    let context = try SQLiteContext(path: path)
    try context.fill(schema, 0..<100)
    let outcome = code { try context.fill(schema, 100..<50_000, size: 1_000) }
    #expect(outcome == .storeFull)
    #expect(try context.count(FetchRequest(schema)) == 100)
    try context.transaction { transaction in
      let isDone = try transaction.delete(RecordKey([.integer(5)]), in: schema)
      #expect(isDone)
    }
    try context.close()
    let again = try SQLiteContext(path: path)
    #expect(try again.count(FetchRequest(schema)) == 99)
    try again.close()
  }

  @Test("a table that another program changed throws damaged")
  func changedTable() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<10)
    _ = try context.values(of: .integer(1), in: schema)
    let outsider = try Outsider(scratch.path())
    try outsider.execute("ALTER TABLE Movie RENAME COLUMN budget TO cost")
    #expect(code { _ = try context.values(of: .integer(1), in: schema) } == .damaged)
    #expect(code { _ = try context.fetch(FetchRequest(schema)).read(from: 0, limit: 1) { _ in } } == .damaged)
    try outsider.execute("ALTER TABLE Movie RENAME COLUMN cost TO budget")
    #expect(try context.values(of: .integer(1), in: schema) != nil)
    try outsider.execute("UPDATE persistence_catalog SET layout = '{'")
    #expect(code { _ = try scratch.open().catalog() } == .damaged)
  }

  @Test("known options of a URL work, and unknown ones are rejected")
  func options() throws {
    func open(_ options: String) throws -> SQLiteContext? {
      try StorageEngine.open(
        "sqlite:\(scratch.path("url.sqlite"))\(options)", engines: [.sqlite], monitoring: Monitoring())
        as? SQLiteContext
    }
    let context = try #require(try open("?synchronous=normal&busy=2s&pool=2&journal=wal"))
    #expect(context.capabilities.readersBlockWriters == false)
    #expect(code { _ = try open("?sync=full") } == .invalidURL)
    #expect(code { _ = try open("?synchronous=maybe") } == .invalidURL)
    #expect(code { _ = try open("?pool=0") } == .invalidURL)
    #expect(try open("?readonly=true")?.capabilities.isReadOnly == true)
    try context.close()
    let rollback = try #require(try open("?journal=delete"))
    #expect(rollback.capabilities.readersBlockWriters)
    #expect(try Outsider(scratch.path("url.sqlite")).texts("PRAGMA journal_mode") == ["delete"])
    try rollback.fill(schema, 0..<10)
    #expect(try rollback.count(FetchRequest(schema)) == 10)
  }
}
