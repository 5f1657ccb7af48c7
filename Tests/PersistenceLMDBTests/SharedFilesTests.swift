import CLMDB
import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Testing

@testable import PersistenceLMDB

/// Stores whose data or lock file other programs have linked, removed or replaced.
@Suite("The files that LMDB's processes share")
struct SharedFilesTests {
  private let monitor = ContextMonitor(Monitoring(), location: "test")

  /// Commits to the data file of a store by another lock file, as a process does that has opened a hard link to it.
  private func commitElsewhere(_ scratch: Scratch) throws {
    let folder = scratch.folder.appendingPathComponent("elsewhere")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let data = folder.appendingPathComponent("data.mdb")
    try FileManager.default.linkItem(at: scratch.data, to: data)
    let handle = try LMDBHandle(
      path: folder.path, header: LMDBHeader.read(data.path), LMDBSettings(LMDBConfiguration()))
    defer { handle.close() }
    #expect(try handle.openSpaces(create: false))
    let writer = try LMDBTransaction(handle, .full)
    defer { writer.abort() }
    let key = Array("unknown".utf8)
    try key.withUnsafeBytes { key in
      try writer.reserve(key, count: 1, in: .catalog, isReplacing: true)?.copyBytes(from: [1])
    }
    try writer.commit()
  }

  /// Expects that a context refuses a write and changes nothing after another program has changed the store's files, and that
  /// the path then opens again.
  private func expectRefusal(after change: (Scratch) throws -> Void) throws {
    let (scratch, schema) = (try Scratch(), try Scratch.schema())
    let context = try scratch.open()
    try context.save([("a", "first")], schema)
    try change(scratch)
    let committed = try Data(contentsOf: scratch.data)
    expectError(.missingStore) { try context.save([("b", nil)], schema) }
    #expect(try Data(contentsOf: scratch.data) == committed)
    try context.close()
    let again = try scratch.open()
    try again.save([("c", nil)], schema)
    #expect(try again.keys(FetchRequest(schema)) == ["a", "c"])
  }

  @Test("E8 a write does not replace a commit that another lock file has hidden")
  func hiddenCommit() throws { try expectRefusal(after: commitElsewhere) }

  @Test("E8 a write throws if the lock file was removed, until the path is opened again")
  func removedLock() throws {
    try expectRefusal { scratch in
      try FileManager.default.removeItem(
        at: scratch.data.deletingLastPathComponent().appendingPathComponent("lock.mdb"))
    }
  }

  @Test("U1 a commit counts once readers get it, not as soon as the header shows it")
  func unfinishedCommit() throws {
    let (scratch, schema) = (try Scratch(), try Scratch.schema())
    let context = try scratch.open()
    try context.save([("a", nil)], schema)
    let session = try LMDBRegistry.open(scratch.path, LMDBConfiguration(), monitor)
    let commits = session.environment.commits
    #expect(try !commits.check())
    // From now on, the header is ahead of the number for readers, as during the last step of a commit.
    try commitElsewhere(scratch)
    #expect(try !commits.check())
  }

  @Test("E8 a store whose data file was replaced opens when nothing holds the file before, and not earlier")
  func replacedData() throws {
    let (scratch, schema) = (try Scratch(), try Scratch.schema())
    let context = try scratch.open()
    try context.save([("a", nil)], schema)
    let copy = scratch.folder.appendingPathComponent("copy.mdb")
    try FileManager.default.copyItem(at: scratch.data, to: copy)
    try context.save([("b", nil)], schema)
    let results = try context.fetch(FetchRequest(schema))
    #expect(rename(copy.path, scratch.data.path) == 0)
    let error = expectError(.busy) { try scratch.open() }
    #expect(error?.message.contains("replaced") == true)
    try context.close()
    expectError(.busy) { try scratch.open() }
    #expect(try results.keys() == ["a", "b"])
    withExtendedLifetime(results) {}
  }

  @Test("the path of a replaced data file opens after the last result of the file before")
  func releasedData() throws {
    let (scratch, schema) = (try Scratch(), try Scratch.schema())
    let context = try scratch.open()
    try context.save([("a", nil)], schema)
    let copy = scratch.folder.appendingPathComponent("copy.mdb")
    try FileManager.default.copyItem(at: scratch.data, to: copy)
    try context.save([("b", nil)], schema)
    #expect(rename(copy.path, scratch.data.path) == 0)
    try context.close()
    #expect(try scratch.open().keys(FetchRequest(schema)) == ["a"])
  }

  #if os(Linux)
    @Test("C2 the table of readers does not grow while a process has it in its map")
    func readerTable() throws {
      let scratch = try Scratch()
      var configuration = LMDBConfiguration()
      configuration.maximumReaders = 100
      let context = try scratch.open(configuration)
      let lock = scratch.data.deletingLastPathComponent().appendingPathComponent("lock.mdb")
      func size() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: lock.path)[.size] as? Int ?? 0
      }
      let before = try size()
      #expect(before < 2_000 * 64)
      try LMDBFiles.reserve(lock.path, readers: 2_000)
      #expect(try size() == before)
      try context.close()
      configuration.maximumReaders = 2_000
      try scratch.open(configuration).close()
      #expect(try size() >= 2_000 * 64)
    }
  #endif

  @Test("C2 a creator of a store that waited for one that failed notices that its turn file is gone")
  func lostTurn() throws {
    let scratch = try Scratch()
    let path = scratch.folder.appendingPathComponent("turn.lock").path
    let lock = try LMDBFileLock(path, flags: O_RDWR | O_CREAT)
    #expect(lock.isInPlace)
    unlink(path)
    #expect(!lock.isInPlace)
    let other = try LMDBFileLock(path, flags: O_RDWR | O_CREAT)
    #expect(other.isInPlace && !lock.isInPlace)
  }
}
