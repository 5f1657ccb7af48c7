@testable import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import PersistenceDriverSupport
import Synchronization
import Testing

/// A write that is cancelled while it waits for another write of its object.
@Suite("Cancelled writes that wait")
struct CancelledWriteTests {
  private static let key = RecordKey(1.keyValues)

  private final class Order: Sendable {
    let numbers = Mutex<[Int]>([])
  }

  /// Waits until a number of writes wait for the key of note 1.
  private func waiting(_ count: Int, in source: LayeredDataSource<Note>) async {
    while source.core.mutexes.waiting(for: Self.key) != count { await Task.yield() }
  }

  private func isCancelled(_ task: Task<Void, any Error>) async -> Bool {
    do {
      try await task.value
      return false
    } catch {
      return (error as? PersistenceError)?.code == .cancelled
    }
  }

  @Test("it ends at once behind a write that hangs, is never sent, and later writes follow in order")
  func remoteFirst() async throws {
    let bed = try LayerTestBed([Note(1, "old"), Note(2)]) {
      ($0.remote, $0.local, $0.cache) = (LayerLimits(), LayerLimits(), LayerLimits())
    }
    let source = bed.source
    _ = try await source.execute(everyNote)
    bed.remote.script(.genuine.after(.seconds(1)), for: .save)
    let first = Task { _ = try await source.save(Note(1, "first")) }
    await bed.clock.sleepers(1)
    let second = Task { _ = try await source.save(Note(1, "second")) }
    await waiting(1, in: source)
    let both = Task {
      _ = try await source.apply(ChangeBatch([.save(Note(1, "both")), .save(Note(2, "both"))]))
    }
    await waiting(2, in: source)
    let last = Task { _ = try await source.save(Note(1, "last")) }
    await waiting(3, in: source)
    second.cancel()
    both.cancel()
    #expect(await isCancelled(second))
    #expect(await isCancelled(both))
    // The first write still waits for its answer, and the cancelled batch holds no other object back.
    #expect(bed.clock.sleeperCount == 1)
    try await source.save(Note(2, "free"))
    await waiting(1, in: source)
    bed.clock.advance(by: .seconds(1))
    try await first.value
    try await last.value
    #expect(try await bed.remote.execute(everyNote) == [Note(1, "last"), Note(2, "free")])
    #expect(bed.remote.calls.count { [.save, .apply].contains($0.operation) } == 3)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let answer = try await source.answer(to: everyNote)
    #expect(answer.isComplete && answer.value == [Note(1, "last"), Note(2, "free")])
  }

  @Test("it ends at once behind a local write that hangs, and never enters the outbox")
  func localFirst() async throws {
    // The first write is not busy, however long the machine takes.
    let bed = try OutboxTests.TestBed(in: Repository(MemoryContext(busyTimeout: .seconds(600))))
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let (source, repository) = (bed.source, bed.repository)
    // The layer has recovered before another writer holds the store.
    #expect(try await bed.outbox.count() == 0)
    let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    BlockingThread("writer") {
      try? repository.transaction { _ in
        begun.signal()
        ended.wait()
      }
    }
    await BlockingThread.run { () -> Void in begun.wait() }
    let first = Task { _ = try await source.save(Note(1, "first")) }
    while !source.core.mutexes.isLocked(Self.key) { await Task.yield() }
    let second = Task { _ = try await source.save(Note(1, "second")) }
    await waiting(1, in: source)
    second.cancel()
    #expect(await isCancelled(second))
    ended.signal()
    try await first.value
    #expect(try await bed.outbox.waiting().compactMap { $0.changes?.first?.object.text } == ["first"])
    #expect(try await source.find(1)?.text == "first")
  }

  @Test("a task that is cancelled before it waits takes no lock, and cancellations leave the others in order")
  func mutex() async throws {
    let mutex = AsyncMutex()
    await mutex.lock()
    let order = Order()
    var tasks: [Task<Bool, Never>] = []
    for number in 0..<30 {
      tasks.append(
        Task {
          guard await mutex.lockUnlessCancelled() else { return false }
          order.numbers.withLock { $0.append(number) }
          mutex.unlock()
          return true
        })
      while mutex.waiting <= number { await Task.yield() }
    }
    for number in tasks.indices where number % 3 != 0 { tasks[number].cancel() }
    for number in tasks.indices where number % 3 != 0 { #expect(await !tasks[number].value) }
    #expect(mutex.waiting == 10)
    mutex.unlock()
    for number in tasks.indices where number % 3 == 0 { #expect(await tasks[number].value) }
    #expect(order.numbers.withLock { $0 } == Array(stride(from: 0, to: 30, by: 3)))
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await mutex.lockUnlessCancelled()
    }
    #expect(await cancelled.value == false)
    #expect(await mutex.lockUnlessCancelled())
  }
}
