import Dispatch
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization
import Testing

@testable import PersistenceSQLite

/// With a rollback journal, a transaction that exceeds the page cache writes into the file before it commits, and locks all
/// readers out until then.
@Suite("Observers beside a spilled transaction")
struct SpilledTransactionTests {
  private let scratch: Scratch
  private let movies: ModelSchema

  init() throws {
    scratch = try Scratch()
    movies = try Fixtures.movies()
  }

  private static let count: Int64 = 40

  private func open(busy: Duration) throws -> SQLiteContext {
    let context = try scratch.open {
      $0.journal = .delete
      $0.busyTimeout = busy
    }
    try context.fill(movies, 0..<1)
    return context
  }

  /// Writes records of 8 MB, of which SQLite caches 2.
  private func spill(_ transaction: any StorageTransaction) throws {
    let title = PersistentValue.text(String(repeating: "x", count: 100_000))
    for key in 1...Self.count {
      try transaction.save([.integer(key), title, .null, .integer(key), .null], in: movies)
    }
  }

  private func observer(of context: SQLiteContext) throws -> CommitObserver {
    try CommitObserver(FetchRequest(movies), in: context, keyLimit: 1000)
  }

  /// Expects that an observer would get no snapshot, and learns that at once.
  private func expectWouldWait(_ context: SQLiteContext) {
    #expect(throws: SnapshotWouldWait.self) {
      try ObserversLock.$isHeld.withValue(true) { _ = try context.snapshot() }
    }
  }

  @Test("U1 a snapshot under the lock of the observers does not wait for a writer")
  func atOnce() throws {
    let context = try open(busy: .seconds(1))
    try context.transaction { transaction in
      try spill(transaction)
      expectWouldWait(context)
    }
    _ = try ObserversLock.$isHeld.withValue(true) { try context.snapshot() }
  }

  @Test("U1 an observer does not wait for a reader that waits for a writer")
  func waitingReader() throws {
    let context = try open(busy: .seconds(20))
    let group = DispatchGroup()
    let count = Mutex<Result<Int, any Error>?>(nil)
    let request = try FetchRequest(movies)
    try context.transaction { transaction in
      try spill(transaction)
      let opened = context.counters.connectionsOpened
      group.enter()
      Thread.detachNewThread {
        let result = Result { try context.snapshot().count(request) }
        count.withLock { $0 = result }
        group.leave()
      }
      // The reader has the connection with which it waits.
      while context.counters.connectionsOpened == opened { sched_yield() }
      expectWouldWait(context)
    }
    #expect(group.wait(timeout: .now() + 300) == .success)
    #expect(try count.withLock(\.self)?.get() == 1 + Int(Self.count))
  }

  @Test("U1 an observed transaction that has spilled tells its keys, and does not wait for itself")
  func keys() throws {
    let context = try open(busy: .seconds(2))
    let observer = try observer(of: context)
    try context.observers.add(observer)
    defer { context.observers.remove(observer) }
    _ = try context.observers.look(observer, at: context)
    try context.transaction { try spill($0) }
    let changes = try context.observers.look(observer, at: context).changes
    #expect(!changes.isUnknown && changes.entries.count == Int(Self.count))
  }

  /// Announces each snapshot before it is taken.
  private final class AnnouncingContext: StorageContextWrapper {
    let wrapped: any StorageContext
    let announcement = DispatchSemaphore(value: 0)

    init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

    func snapshot() throws -> any StorageSnapshot {
      announcement.signal()
      return try wrapped.snapshot()
    }
  }

  @Test(
    "U1 W6 an observer that reads while a writer has spilled, and that writer's commit, do not wait for each other"
  )
  func reading() throws {
    let context = try open(busy: .seconds(5))
    let observer = try observer(of: context)
    try context.observers.add(observer)
    defer { context.observers.remove(observer) }
    _ = try context.observers.look(observer, at: context)
    let announcing = AnnouncingContext(context)
    let group = DispatchGroup()
    let changes = Mutex<Result<KeyChanges, any Error>?>(nil)
    try context.transaction { transaction in
      try spill(transaction)
      group.enter()
      Thread.detachNewThread {
        let result = Result { try context.observers.look(observer, at: announcing).changes }
        changes.withLock { $0 = result }
        group.leave()
      }
      announcing.announcement.wait()
    }
    #expect(group.wait(timeout: .now() + 300) == .success)
    let found = try #require(try changes.withLock(\.self)?.get())
    #expect(!found.isUnknown && found.entries.count == Int(Self.count))
  }

  @Test("U1 U2 an observer that is added while a writer has spilled misses no later commit")
  func added() throws {
    let context = try open(busy: .seconds(2))
    let observer = try observer(of: context)
    try context.transaction { transaction in
      try spill(transaction)
      try context.observers.add(observer)
    }
    defer { context.observers.remove(observer) }
    let (snapshot, _) = try context.observers.look(observer, at: context)
    #expect(try snapshot.count(FetchRequest(movies)) == 1 + Int(Self.count))
    #expect(try context.observers.look(observer, at: context).changes.isEmpty)
  }

  @Test("U2 an observer that is added while another program has the file locked learns of its commit")
  func addedBesideOthers() throws {
    let context = try open(busy: .seconds(2))
    let observer = try observer(of: context)
    let other = try Outsider(scratch.path())
    try other.execute("BEGIN EXCLUSIVE")
    try context.observers.add(observer)
    defer { context.observers.remove(observer) }
    try other.execute("CREATE TABLE other (x)")
    try other.execute("COMMIT")
    #expect(try context.observers.look(observer, at: context).changes.isUnknown)
    #expect(try context.observers.look(observer, at: context).changes.isEmpty)
    try other.execute("INSERT INTO other VALUES (1)")
    #expect(try context.observers.look(observer, at: context).changes.isUnknown)
  }
}
