import CSQLite
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import TestSupport
import Testing

@testable import PersistenceSQLite

/// Missing files, commits of unknown outcome, and the check of a store (contract E5, W5).
@Suite struct BrokenStoreTests {
  let scratch: Scratch
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    schema = try Fixtures.movies()
  }

  @Test("E5 :memory: is refused, and the error says what to write")
  func memory() throws {
    for attempt in [
      { _ = try SQLiteContext(path: ":memory:") },
      { _ = try StorageEngine.open("sqlite::memory:", engines: [.sqlite], monitoring: Monitoring()) },
    ] as [() throws -> Void] {
      let error = try #require(throws: PersistenceError.self) { try attempt() }
      #expect(error.code == .invalidURL && error.message.contains("./:memory:"), "\(error)")
    }
    #expect(!FileManager.default.fileExists(atPath: ":memory:"))
  }

  @Test("E5 a missing or empty file beside its log is damaged, and the log is kept")
  func remains() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<20)
    let log = try scratch.bytes("store.sqlite-wal")
    #expect(!log.isEmpty)
    for isEmpty in [false, true] {
      let name = "copy \(isEmpty).sqlite"
      if isEmpty { try Data().write(to: URL(fileURLWithPath: scratch.path(name))) }
      try log.write(to: URL(fileURLWithPath: scratch.path(name + "-wal")))
      for change in [{ _ in }, { $0.createsMissingFile = false }] as [(inout SQLiteConfiguration) -> Void] {
        let error = try #require(throws: PersistenceError.self) { try scratch.open(name, change) }
        #expect(error.code == .damaged, "\(error)")
        #expect(error.message.contains(name) && error.message.contains("-wal"), "\(error)")
      }
      #expect(try scratch.bytes(name + "-wal") == log)
      try FileManager.default.removeItem(atPath: scratch.path(name + "-wal"))
      #expect(try scratch.open(name).catalog().isEmpty)
    }
    let journal = scratch.path("other.sqlite-journal")
    try Data(count: 512).write(to: URL(fileURLWithPath: journal))
    #expect(code { _ = try scratch.open("other.sqlite") } == .damaged)
    #expect(try context.count(FetchRequest(schema)) == 20)
  }

  @Test("W5 a commit that may be in the log is outcomeUnknown; other failures keep their codes")
  func unknownOutcome() {
    func commit(_ code: Int32) -> PersistenceError {
      SQLiteErrorMapping.error(code, nil, "commit a transaction", "store.sqlite").ofCommit
    }
    for code in [4, 5, 10, 19, 21] as [Int32] {
      let error = commit(SQLITE_IOERR | code << 8)
      #expect(
        error.code == .outcomeUnknown && error.engineError?.code == Int(SQLITE_IOERR | code << 8), "\(error)")
      #expect(!error.isRetryable)
    }
    #expect(commit(SQLITE_IOERR | 3 << 8).code == .inputOutput)
    #expect(commit(SQLITE_FULL).code == .storeFull)
    let read = SQLiteErrorMapping.error(SQLITE_IOERR | 19 << 8, nil, "read a record", "store.sqlite")
    #expect(read.code == .storeFull)
    #expect(commit(SQLITE_BUSY).code == .busy)
  }

  @Test("verify reports a damaged page and unreadable records, and nothing about an intact store")
  func verification() throws {
    let context = try scratch.open()
    try context.fill(schema, 0..<2_000, size: 500)
    var findings: [StoreFinding] = []
    try context.verify { findings.append($0) }
    #expect(findings == [])
    try Outsider(scratch.path()).execute("UPDATE Movie SET budget = 'much' WHERE id IN (200, 201)")
    try context.verify { findings.append($0) }
    #expect(findings.filter { $0.kind == .damaged && $0.object.hasPrefix("Movie") }.count == 2, "\(findings)")
    try context.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try context.close()
    var content = try scratch.bytes("store.sqlite")
    for number in 40..<60 {
      content.replaceSubrange(4_096 * number..<4_096 * number + 200, with: Data(count: 200))
    }
    try content.write(to: URL(fileURLWithPath: scratch.path("damaged.sqlite")))
    findings = []
    try scratch.open("damaged.sqlite").verify { findings.append($0) }
    #expect(findings.contains { $0.kind == .damaged && !$0.object.hasPrefix("Movie") }, "\(findings)")
  }
}
