import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import Synchronization
import TestSupport
import Testing

/// Observers of stores whose reads fail for a while.
@Suite("Observation of every engine, while reads fail")
struct ObservationRetryTests {
  private static let options = ObservationOptions(outsideInterval: .milliseconds(1))

  /// A store of each engine behind a context whose reads fail on demand, after the first update of an observer.
  private func observing(
    _ context: ContextUnderTest,
    _ body: (FailingContext, Repository, inout RecordUpdates<Account>.AsyncIterator) async throws -> Void
  ) async throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory())
      .appendingPathComponent("observation-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let repository = try StoreUnderTest(context, folder: folder).open()
    let storage = try #require(repository.context.asStorageContext)
    let failing = FailingContext(storage)
    var updates = Repository(failing).updates(of: Account.self, options: Self.options).makeAsyncIterator()
    try repository.save(Account(1, balance: 1))
    #expect(try #require(await updates.next()).changes == .first)
    try await body(failing, repository, &updates)
  }

  @Test(
    "U1 a snapshot that cannot be had delays an update, which has all keys", arguments: ContextUnderTest.ours)
  func snapshots(context: ContextUnderTest) async throws {
    try await observing(context) { failing, repository, updates in
      for (id, code) in [(2, PersistenceError.Code.busy), (3, .unreachable), (4, .timedOut)] {
        failing.fail(snapshots: 3, with: code)
        try repository.save(Account(id, balance: 1))
        let update = try #require(await updates.next())
        #expect(update.changes.keys?.inserted == [RecordKey([.integer(Int64(id))])], "\(update.changes)")
        #expect(failing.isSpent)
      }
    }
  }

  @Test(
    "U1 a read that fails after it took the changes tells them later, without keys",
    arguments: ContextUnderTest.ours)
  func reads(context: ContextUnderTest) async throws {
    try await observing(context) { failing, repository, updates in
      failing.fail(reads: 2, with: .busy)
      try repository.save(Account(2, balance: 1))
      let update = try #require(await updates.next())
      #expect(update.changes == .unknown)
      #expect(update.results.map(\.id) == [1, 2])
      #expect(failing.isSpent)
      try repository.save(Account(3, balance: 1))
      #expect(try #require(await updates.next()).changes.keys?.inserted == [RecordKey([.integer(3)])])
    }
  }

  @Test("U1 an error that does not pass ends the observation", arguments: ContextUnderTest.ours)
  func damage(context: ContextUnderTest) async throws {
    try await observing(context) { failing, repository, updates in
      failing.fail(snapshots: 1, with: .damaged)
      try repository.save(Account(2, balance: 1))
      do throws(PersistenceError) {
        _ = try await updates.next()
        Issue.record("the observation did not end")
      } catch {
        #expect(error.code == .damaged)
      }
      #expect(try await updates.next() == nil)
    }
  }

  @Test("U1 a cancelled observation ends while it waits to read again", arguments: ContextUnderTest.ours)
  func cancellation(context: ContextUnderTest) async throws {
    try await observing(context) { failing, repository, updates in
      failing.fail(snapshots: .max, with: .busy)
      try repository.save(Account(2, balance: 1))
      let waiting = Task { [updates] in
        var updates = updates
        return try await updates.next() == nil
      }
      while failing.failures < 3 { try await Task.sleep(for: .milliseconds(1)) }
      waiting.cancel()
      #expect(try await waiting.value)
    }
  }
}

/// A context whose snapshots, or their reads, fail as often as it is told.
private final class FailingContext: StorageContextWrapper {
  let wrapped: any StorageContext

  private struct State {
    var (snapshots, reads, failures) = (0, 0, 0)
    var code = PersistenceError.Code.busy
  }
  private let state = Mutex(State())

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func fail(snapshots: Int = 0, reads: Int = 0, with code: PersistenceError.Code) {
    state.withLock { ($0.snapshots, $0.reads, $0.code) = (snapshots, reads, code) }
  }

  /// Whether everything has failed that was to fail.
  var isSpent: Bool { state.withLock { $0.snapshots == 0 && $0.reads == 0 } }

  var failures: Int { state.withLock(\.failures) }

  private func failIfWanted(_ count: WritableKeyPath<State, Int>) throws {
    let code = state.withLock { state -> PersistenceError.Code? in
      guard state[keyPath: count] > 0 else { return nil }
      state[keyPath: count] -= 1
      state.failures += 1
      return state.code
    }
    if let code { throw PersistenceError(code, "the test wants this") }
  }

  func snapshot() throws -> any StorageSnapshot {
    try failIfWanted(\.snapshots)
    return FailingSnapshot(try wrapped.snapshot(), self)
  }

  private final class FailingSnapshot: StorageSnapshotWrapper {
    let wrapped: any StorageSnapshot
    private let context: FailingContext

    init(_ wrapped: any StorageSnapshot, _ context: FailingContext) {
      (self.wrapped, self.context) = (wrapped, context)
    }

    func fetch(_ request: FetchRequest) throws -> any StorageResults {
      try context.failIfWanted(\.reads)
      return try wrapped.fetch(request)
    }
  }
}
