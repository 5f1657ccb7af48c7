import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import PersistenceDriverSupport
import Testing

@Suite("Stale objects")
struct StaleObjectTests {
  typealias ReplicaKind = CoverageTests.ReplicaKind

  private let notes = (0..<5).map { Note($0, "n\($0)") }

  private func bed(_ below: ReplicaKind) throws -> (
    source: LayeredDataSource<Note>, remote: ScriptedDataSource<Note>
  ) {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    return (
      try LayeredDataSource(local: below.layer(clock), remote: remote, options: LayerTestBed.options(clock)),
      remote
    )
  }

  @Test("a rejected write does not clear a stale key of an earlier one", arguments: ReplicaKind.allCases)
  func refused(below: ReplicaKind) async throws {
    let (source, remote) = try bed(below)
    _ = try await source.execute(everyNote)
    remote.script(.lost(LayerTestBed.gone), .failure(PersistenceError(.uniqueViolation, "no")), for: .save)
    for text in ["first", "second"] {
      await #expect(throws: PersistenceError.self) { try await source.save(Note(1, text)) }
    }
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await source.find(1) }
    #expect(try await source.find(2) == notes[2])
    remote.answerOtherwise(.genuine)
    #expect(try await source.find(1)?.text == "first")
  }

  @Test(
    "after any error but a rejection, the outcome of a write is unknown",
    arguments: ReplicaKind.allCases,
    ["damaged", "valueTooLarge", "encodingFailed", "inputOutput", "closed", "aCodeOfSomeoneElse"])
  func unknown(below: ReplicaKind, code: String) async throws {
    let (source, remote) = try bed(below)
    _ = try await source.execute(everyNote)
    remote.script(.lost(PersistenceError(.init(rawValue: code), "lost answer")), for: .save)
    await #expect(throws: PersistenceError.self) { try await source.save(Note(1, "done")) }
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await source.find(1) }
  }

  @Test(
    "a rejection leaves the replica current", arguments: ReplicaKind.allCases,
    [PersistenceError.Code.uniqueViolation, .invalidRequest, .unauthorized, .busy, .readOnly])
  func known(below: ReplicaKind, code: PersistenceError.Code) async throws {
    let (source, remote) = try bed(below)
    _ = try await source.execute(everyNote)
    remote.script(.failure(PersistenceError(code, "no")), for: .save)
    await #expect(throws: PersistenceError.self) { try await source.save(Note(1, "refused")) }
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.execute(everyNote) == notes)
    #expect(try await source.find(1) == notes[1])
  }

  @Test(
    "W5 a rejected retry does not hide an attempt with unknown outcome", .timeLimit(.minutes(1)),
    arguments: ReplicaKind.allCases, [PersistenceError.Code.unauthorized, .busy])
  func rejectedRetry(below: ReplicaKind, code: PersistenceError.Code) async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    var options = LayerTestBed.options(clock)
    options.local = LayerLimits()
    options.remote = LayerLimits(retry: RetryPolicy(attempts: 2, firstDelay: .seconds(1), jitter: 0))
    let source = try LayeredDataSource(local: below.layer(clock), remote: remote, options: options)
    _ = try await source.execute(everyNote)
    remote.script(.lost(LayerTestBed.gone), .failure(PersistenceError(code, "no")), for: .save)
    let write = Task { try await source.save(Note(1, "done")) }
    await clock.sleepers(1)
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: PersistenceError.self) { try await write.value }
    #expect(error?.code == .unreachable)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let read = Task { try await source.find(1) }
    await clock.sleepers(1)
    clock.advance(by: .seconds(1))
    await #expect(throws: PersistenceError.self) { try await read.value }
    remote.answerOtherwise(.genuine)
    #expect(try await source.find(1)?.text == "done")
  }

  @Test("a local-first write clears the stale key of its object")
  func writtenAgain() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource<Note>(clock: clock)
    var options = LayerTestBed.options(clock)
    options.writes = .localFirst
    let source = try LayeredDataSource(
      local: try RepositoryDataSource<Note>.inMemory(), remote: remote, options: options)
    let outbox = try #require(source.outbox)
    remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await source.insert(Note(1))
    try await outbox.send()
    #expect(try await outbox.setAside().count == 1)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await source.find(1) }
    try await source.save(Note(1, "again"))
    #expect(try await source.find(1)?.text == "again")
  }

  @Test("a local write with unknown outcome makes the cache stale")
  func localTimeout() async throws {
    let bed = try OutboxTests.TestBed([Note(1, "old")]) { $0.local.timeout = .seconds(5) }
    _ = try await bed.source.execute(everyNote)
    #expect(try await bed.cache.find(1) != nil)
    // Another writer holds the store.
    let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let repository = bed.repository
    BlockingThread("writer") {
      try? repository.transaction { _ in
        begun.signal()
        ended.wait()
      }
    }
    await BlockingThread.run { () -> Void in begun.wait() }
    let task = Task { try await bed.source.save(Note(1, "new")) }
    await bed.clock.sleepers(1)
    bed.clock.advance(by: .seconds(5))
    let error = await #expect(throws: PersistenceError.self) { try await task.value }
    #expect(error?.code == .timedOut)
    #expect(try await bed.cache.find(1) == nil)
    ended.signal()
  }

  @Test("a known absence expires like an object")
  func absences() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource<Note>(clock: clock)
    let cache = CacheDataSource<Note>(.init(age: .seconds(10)), now: { clock.date })
    let source = try LayeredDataSource(cache: cache, remote: remote, options: LayerTestBed.options(clock))
    #expect(try await source.find(7) == nil)
    try await remote.insert(Note(7))
    remote.answerOtherwise(.genuine.after(.seconds(1)))
    #expect(try await source.answer(for: 7, strategy: .fastestAvailable).source == .cache)
    remote.answerOtherwise(.genuine)
    clock.advance(by: .seconds(11))
    #expect(try await source.answer(for: 7, strategy: .fastestAvailable).value == Note(7))
  }

  @Test("writes of one object run in order through a single layer too")
  func oneLayer() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource<Note>(clock: clock)
    let source = try LayeredDataSource<Note>(remote: remote)
    remote.script(.genuine.after(.seconds(1)), for: .save)
    let first = Task { try await source.save(Note(1, "first")) }
    await clock.sleepers(1)
    let second = Task { try await source.save(Note(1, "second")) }
    for _ in 0..<1000 { await Task.yield() }
    clock.advance(by: .seconds(1))
    _ = try await (first.value, second.value)
    #expect(try await remote.find(1)?.text == "second")
  }
}
