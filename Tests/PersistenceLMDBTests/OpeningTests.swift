import CLMDB
import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceLMDB
import PersistenceDriverSupport

@Suite("Opening LMDB stores")
struct OpeningTests {
  private let monitor = ContextMonitor(Monitoring(), location: "test")

  @Test("one environment serves all paths, links and contexts of a process")
  func links() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let first = try scratch.open()
    let files = FileManager.default
    let link = scratch.folder.appendingPathComponent("link").path
    try files.createSymbolicLink(atPath: link, withDestinationPath: scratch.path)
    // One folder whose data file is a hard link, and one whose data file is a symbolic link.
    for (name, isHard) in [("hard", true), ("soft", false)] {
      let folder = scratch.folder.appendingPathComponent(name)
      try files.createDirectory(at: folder, withIntermediateDirectories: false)
      let data = folder.appendingPathComponent("data.mdb")
      if isHard {
        try files.linkItem(at: scratch.data, to: data)
      } else {
        try files.createSymbolicLink(at: data, withDestinationURL: scratch.data)
      }
    }
    try first.save([("a", "first")], schema)
    for path in [
      link, scratch.path + "/",
      scratch.folder.path + "/../" + scratch.folder.lastPathComponent + "/store.lmdb",
    ]
      + ["hard", "soft"].map({ scratch.folder.appendingPathComponent($0).path })
    {
      let other = try LMDBContext(path: path)
      #expect(other.location == first.location)
      #expect(try other.text("a", schema) == .text("first"))
      try other.save([(path, nil)], schema)
      #expect(try first.text(path, schema) == .null)
      try other.close()
    }
    #expect(try first.count(FetchRequest(schema)) == 6)
    try first.close()
    // The last context closes the store, which can then be opened again.
    let again = try scratch.open()
    #expect(try again.text("a", schema) == .text("first"))
  }

  @Test("E5 a missing folder, store or parent throws missingStore, and nothing is created")
  func missing() throws {
    let scratch = try Scratch()
    expectError(.missingStore) {
      try LMDBContext(path: scratch.folder.appendingPathComponent("no/store.lmdb").path)
    }
    expectError(.missingStore) { try scratch.open(LMDBConfiguration(isReadOnly: true)) }
    expectError(.missingStore) { try scratch.open(LMDBConfiguration(createsMissingStore: false)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).isEmpty)
    // The next opening removes the leftovers of a killed creator.
    try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: false)
    for name in ["new.mdb", "new.mdb-lock", "turn.lock"] {
      try Data("half".utf8).write(to: scratch.folder.appendingPathComponent("store.lmdb/" + name))
    }
    try scratch.open().save([("a", nil)], Scratch.schema())
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        == ["data.mdb", "lock.mdb", "turn.lock"])
  }

  @Test("E5 a store whose data file is missing is damaged, and does not open as an empty one")
  func missingData() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save([("a", "first")], schema)
    try context.close()
    let data = try Data(contentsOf: scratch.data)
    try FileManager.default.removeItem(at: scratch.data)
    var existing = LMDBConfiguration()
    existing.createsMissingStore = false
    var readOnly = LMDBConfiguration()
    readOnly.isReadOnly = true
    for configuration in [LMDBConfiguration(), existing, readOnly] {
      let error = expectError(.damaged) { try scratch.open(configuration) }
      #expect(error?.message.contains("data.mdb") == true && error?.message.contains("lock.mdb") == true)
    }
    #expect(!FileManager.default.fileExists(atPath: scratch.data.path))
    try data.write(to: scratch.data)
    #expect(try scratch.open().text("a", schema) == .text("first"))
  }

  @Test("E5 a folder that a killed creation has left is a new store")
  func leftovers() throws {
    let scratch = try Scratch()
    let folder = URL(fileURLWithPath: scratch.path)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["turn.lock", "new.mdb", "new.mdb-lock"] {
      try Data().write(to: folder.appendingPathComponent(name))
    }
    #expect(try scratch.open().catalog().isEmpty)
  }

  @Test("E5 a path that is no store is rejected, and its bytes are unchanged")
  func otherFiles() throws {
    let scratch = try Scratch()
    let files = FileManager.default
    let plain = scratch.folder.appendingPathComponent("plain")
    try Data("hello".utf8).write(to: plain)
    expectError(.notAStore) { try LMDBContext(path: plain.path) }
    #expect(try Data(contentsOf: plain) == Data("hello".utf8))

    let folder = scratch.folder.appendingPathComponent("folder")
    try files.createDirectory(at: folder, withIntermediateDirectories: false)
    try Data("{}".utf8).write(to: folder.appendingPathComponent("1.json"))
    expectError(.notAStore) { try LMDBContext(path: folder.path) }
    #expect(try files.contentsOfDirectory(atPath: folder.path) == ["1.json"])

    for (name, bytes) in [("short", 5), ("page", 4096), ("long", 100_000)] {
      let other = scratch.folder.appendingPathComponent(name)
      try files.createDirectory(at: other, withIntermediateDirectories: false)
      let data = Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0) })
      try data.write(to: other.appendingPathComponent("data.mdb"))
      expectError(.notAStore) { try LMDBContext(path: other.path) }
      expectError(.notAStore) {
        try LMDBContext(path: other.path, configuration: LMDBConfiguration(isReadOnly: true))
      }
      #expect(try Data(contentsOf: other.appendingPathComponent("data.mdb")) == data)
    }
  }

  @Test("E5 an LMDB file with another program's data is rejected")
  func foreign() throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: false)
    var environment: OpaquePointer?
    #expect(mdb_env_create(&environment) == 0)
    #expect(mdb_env_open(environment, scratch.path, 0, 0o644) == 0)
    var transaction: OpaquePointer?
    #expect(mdb_txn_begin(environment, nil, 0, &transaction) == 0)
    var database: MDB_dbi = 0
    #expect(mdb_dbi_open(transaction, nil, 0, &database) == 0)
    var bytes = Array("key".utf8)
    bytes.withUnsafeMutableBytes { bytes in
      var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      var value = key
      #expect(mdb_put(transaction, database, &key, &value, 0) == 0)
    }
    #expect(mdb_txn_commit(transaction) == 0)
    mdb_env_close(environment)
    let before = try Data(contentsOf: scratch.data)
    expectError(.notAStore) { try scratch.open() }
    #expect(try Data(contentsOf: scratch.data) == before)
  }

  @Test("E5 a file truncated at any length is reported as damaged, without a crash")
  func truncated() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save((0..<500).map { ("\($0)", String(repeating: "x", count: 300)) }, schema)
    try context.save([("blob", String(repeating: "y", count: 50_000))], schema)
    try context.close()
    let whole = try Data(contentsOf: scratch.data)
    var damaged = 0
    for pages in [1, 2, 3, 5, 10, 20, whole.count / 4096 - 1] {
      let part = whole.prefix(pages * 4096 - (pages % 2 == 0 ? 100 : 0))
      try part.write(to: scratch.data)
      do {
        let reopened = try scratch.open()
        #expect(try reopened.keys(FetchRequest(schema)).count == 501)
        try reopened.close()
      } catch let error as PersistenceError {
        #expect([.damaged, .notAStore].contains(error.code), "\(error)")
        damaged += 1
      }
      #expect(try Data(contentsOf: scratch.data).count == part.count)
    }
    #expect(damaged >= 6)
    try whole.write(to: scratch.data)
    #expect(try scratch.open().keys(FetchRequest(schema)).count == 501)
  }

  @Test("W5 a file that lacks only unused pages opens")
  func shortButSound() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save([("kept", "text")], schema)
    try context.transaction { transaction in
      let row = RowBuffer(count: 2)
      row.set([.text("blob"), .text(String(repeating: "x", count: 500_000))])
      try row.withRow { try transaction.save($0, in: schema) }
      _ = try transaction.delete(RecordKey([.text("blob")]), in: schema)
    }
    try context.close()
    let header = try LMDBHeader.read(scratch.data.path)
    #expect(header.usedSize > header.fileSize, "the test has lost its point")
    let again = try scratch.open()
    #expect(try again.keys(FetchRequest(schema)) == ["kept"])
    try again.save((0..<500).map { ("\($0)", String(repeating: "z", count: 300)) }, schema)
    #expect(try again.keys(FetchRequest(schema)).count == 501)
  }

  @Test("E5 a read-only context reads, rejects writes, and joins a writing one")
  func readOnly() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let writer = try scratch.open()
    try writer.save([("a", "b")], schema)
    let joined = try scratch.open(LMDBConfiguration(isReadOnly: true))
    #expect(joined.capabilities.isReadOnly)
    expectError(.readOnly) { try joined.save([("b", nil)], schema) }
    #expect(try joined.text("a", schema) == .text("b"))
    try joined.close()
    try writer.close()
    let reader = try scratch.open(LMDBConfiguration(isReadOnly: true))
    #expect(try reader.text("a", schema) == .text("b"))
    // A writer may join, and the reader sees its commits.
    try scratch.open().save([("b", "c")], schema)
    #expect(try reader.text("b", schema) == .text("c"))
    expectError(.readOnly) { try reader.save([("c", nil)], schema) }
  }

  @Test("a closed context rejects calls, and closing it again does nothing")
  func closed() throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    try context.close()
    try context.close()
    expectError(.closed) { try context.catalog() }
    expectError(.closed) { try context.snapshot() }
    expectError(.closed) { try context.transaction { _ in } }
  }

  @Test("the options of a URL configure the store")
  func options() throws {
    let scratch = try Scratch()
    let text =
      "lmdb:\(scratch.path)?mapsize=8MiB&sync=off&busy=100ms&readahead=false&readers=20&create=true"
      + "&checks=structure"
    let context = try #require(
      try StorageEngine.open(text, engines: [.lmdb], monitoring: Monitoring()) as? LMDBContext)
    let session = try LMDBRegistry.open(scratch.path, LMDBConfiguration(), monitor)
    #expect(session.environment.mapSize == 8 << 20)
    #expect(session.environment.settings.maximumReaders == 20)
    try context.close()
    for bad in ["sync=never", "mapsize=big", "colour=red", "readers=0", "checks=none"] {
      expectError(.invalidURL) {
        try StorageEngine.open("lmdb:\(scratch.path)?\(bad)", engines: [.lmdb], monitoring: Monitoring())
      }
    }
    expectError(.invalidURL) { try StorageEngine.open("lmdb:", engines: [.lmdb], monitoring: Monitoring()) }
  }
}
