import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import Synchronization
import Testing

@Suite("Observation of every engine")
struct ObservationTests {
  /// A store of each engine, in a scratch folder for the duration of a closure.
  private func withStore(
    _ context: ContextUnderTest, _ body: (StoreUnderTest) async throws -> Void
  ) async throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory())
      .appendingPathComponent("observation-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(StoreUnderTest(context, folder: folder))
  }

  @Test(
    "with very many changes, each key is reported once, and each update agrees with the records",
    arguments: ContextUnderTest.ours)
  func million(context: ContextUnderTest) async throws {
    // For a JSON directory, thousands of files are as good as a million.
    let many = context.name == "json" ? 40_000 : 1_000_000
    let total = Environment.isSoak ? many : context.name == "json" ? 400 : 20_000
    let writers = 4
    let size = context.name == "json" ? 20 : 100
    try await withStore(context) { store in
      let repository = try store.open()
      let options = ObservationOptions(keyLimit: total)  // however far the observer falls behind
      var updates = repository.updates(of: Account.self, options: options).makeAsyncIterator()
      #expect(try #require(await updates.next()).changes == .first)
      let writing = Task.detached {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for writer in 0..<writers {
            group.addTask {
              try await BlockingThread.run {
                for start in stride(from: writer * size, to: total, by: writers * size) {
                  try repository.insert(
                    contentsOf: (start..<min(total, start + size)).map { Account($0, balance: 1) })
                }
              }
            }
          }
          try await group.waitForAll()
        }
      }
      var isTold = [Bool](repeating: false, count: total)
      var (told, looks, twice) = (0, 0, 0)
      while told < total {
        let update = try #require(await updates.next())
        let keys = try #require(update.changes.keys, "\(update.changes)")
        #expect(keys.updated.isEmpty && keys.deleted.isEmpty)
        for key in keys.inserted {
          let id = try key.value(as: Int.self)
          if isTold[id] { twice += 1 }
          isTold[id] = true
        }
        told += keys.inserted.count
        looks += 1
        // Counting is slow on some engines.
        if looks % (Environment.isSoak ? 100 : 10) == 1 { #expect(update.results.count == told) }
      }
      #expect(twice == 0)
      #expect(told == total)
      #expect(isTold.allSatisfy { $0 })
      try await writing.value
      #expect(try repository.count(Account.self) == total)
    }
  }

  @Test(
    "an observer that does not read keeps no more keys than its limit, and misses nothing",
    arguments: ContextUnderTest.ours)
  func stalled(context: ContextUnderTest) async throws {
    try await withStore(context) { store in
      let repository = try store.open()
      let rounds = context.name == "json" ? 2 : Environment.isSoak ? 1000 : 20
      var updates = repository.updates(of: Account.self, options: ObservationOptions(keyLimit: 100))
        .makeAsyncIterator()
      _ = try await updates.next()
      for round in 1...rounds {
        try repository.save(contentsOf: (0..<500).map { Account($0, balance: round) })
      }
      let update = try #require(await updates.next())
      #expect(update.changes == .unknown)
      #expect(update.results.allSatisfy { $0.balance == rounds })
      #expect(update.results.count == 500)
    }
  }

  @Test("contexts on one store in one process report each other's keys", arguments: ContextUnderTest.ours)
  func siblings(context: ContextUnderTest) async throws {
    guard try context.capabilities().isMultiProcess else { return }
    try await withStore(context) { store in
      let (first, second) = (try store.open(), try store.open())
      var updates = first.updates(of: Account.self).makeAsyncIterator()
      _ = try await updates.next()
      for id in 1...20 {
        try (id % 3 == 0 ? first : second).save(Account(id, balance: id))
        let update = try #require(await updates.next())
        #expect(update.changes.keys?.inserted == [RecordKey([.integer(Int64(id))])], "\(update.changes)")
      }
    }
  }

  @Test(
    "an observer polls for other processes' commits by its clock, and not earlier",
    arguments: ContextUnderTest.ours)
  func clock(context: ContextUnderTest) async throws {
    guard try context.capabilities().noticesOutsideCommits else { return }
    try await withStore(context) { store in
      let repository = try store.open()
      try repository.save(contentsOf: (1...400).map { Account($0, balance: 0) })
      let clock = SteppedClock()
      let options = ObservationOptions(outsideInterval: .seconds(3600), clock: clock)
      var updates = repository.updates(of: Account.self, options: options).makeAsyncIterator()
      _ = try await updates.next()
      let isTold = Signal()
      let waiting = Task { [updates] in
        var updates = updates
        let update = try await updates.next()
        isTold.set()
        return update
      }
      while clock.sleepers == 0 { await Task.yield() }
      let worker = try store.worker("rewrite")
      #expect(worker.waitUntilOver() == .success)
      for _ in 0..<1000 { await Task.yield() }
      #expect(!isTold.isSet)
      clock.step()
      let update = try #require(await waiting.value)
      #expect(update.changes == .unknown)
      #expect(update.results.first?.id == -100)
    }
  }
}

/// A flag that is set once.
private final class Signal: Sendable {
  private let state = Mutex(false)
  var isSet: Bool { state.withLock(\.self) }
  func set() { state.withLock { $0 = true } }
}

/// A clock whose sleepers wake on command.
private final class SteppedClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Swift.Duration
    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }
  typealias Duration = Swift.Duration

  private struct State {
    var next = 0
    var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
  }
  private let state = Mutex(State())

  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Swift.Duration { .zero }
  var sleepers: Int { state.withLock(\.waiting.count) }

  func step() {
    let woken = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.values.map(\.self)
    }
    for continuation in woken { continuation.resume(returning: true) }
  }

  func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let isWoken = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.waiting[number] = continuation
          return false
        }
        if isCancelled { continuation.resume(returning: false) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
    }
    if !isWoken { throw CancellationError() }
  }
}
