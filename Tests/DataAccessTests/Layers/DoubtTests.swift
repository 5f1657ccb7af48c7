import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// What is not known for sure after a write.
@Suite("Doubt")
struct DoubtTests {
  typealias Below = CoverageTests.Below

  private let notes = (0..<5).map { Note($0, "n\($0)") }

  private func bench(_ below: Below) throws -> (
    store: LayeredDataSource<Note>, remote: ScriptedDataSource<Note>
  ) {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    return (
      try LayeredDataSource(local: below.layer(clock), remote: remote, options: LayerBench.options(clock)),
      remote
    )
  }

  @Test("a write that is refused does not end the doubt that an earlier one left", arguments: Below.allCases)
  func refused(below: Below) async throws {
    let (store, remote) = try bench(below)
    _ = try await store.execute(everyNote)
    remote.script(.lost(LayerBench.gone), .failure(PersistenceError(.uniqueViolation, "no")), for: .save)
    for text in ["first", "second"] {
      await #expect(throws: PersistenceError.self) { try await store.save(Note(1, text)) }
    }
    remote.answerOtherwise(.failure(LayerBench.gone))
    await #expect(throws: PersistenceError.self) { try await store.find(1) }
    #expect(try await store.find(2) == notes[2])
    remote.answerOtherwise(.genuine)
    #expect(try await store.find(1)?.text == "first")
  }

  @Test(
    "any error but a refusal leaves open whether a write was done",
    arguments: Below.allCases,
    ["damaged", "valueTooLarge", "encodingFailed", "inputOutput", "closed", "aCodeOfSomeoneElse"])
  func unknown(below: Below, code: String) async throws {
    let (store, remote) = try bench(below)
    _ = try await store.execute(everyNote)
    remote.script(.lost(PersistenceError(.init(rawValue: code), "done, and not told")), for: .save)
    await #expect(throws: PersistenceError.self) { try await store.save(Note(1, "done")) }
    remote.answerOtherwise(.failure(LayerBench.gone))
    await #expect(throws: PersistenceError.self) { try await store.find(1) }
  }

  @Test(
    "after a refusal what is held is as good as before", arguments: Below.allCases,
    [PersistenceError.Code.uniqueViolation, .invalidRequest, .unauthorized, .busy, .readOnly])
  func known(below: Below, code: PersistenceError.Code) async throws {
    let (store, remote) = try bench(below)
    _ = try await store.execute(everyNote)
    remote.script(.failure(PersistenceError(code, "no")), for: .save)
    await #expect(throws: PersistenceError.self) { try await store.save(Note(1, "refused")) }
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await store.execute(everyNote) == notes)
    #expect(try await store.find(1) == notes[1])
  }

  @Test("a write that begins here ends the doubt about its object")
  func writtenAgain() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource<Note>(clock: clock)
    var options = LayerBench.options(clock)
    options.writes = .localFirst
    let store = try LayeredDataSource(
      local: try RepositoryDataSource<Note>.inMemory(), remote: remote, options: options)
    let outbox = try #require(store.outbox)
    remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await store.insert(Note(1))
    try await outbox.send()
    #expect(try await outbox.setAside().count == 1)
    remote.answerOtherwise(.failure(LayerBench.gone))
    await #expect(throws: PersistenceError.self) { try await store.find(1) }
    try await store.save(Note(1, "again"))
    #expect(try await store.find(1)?.text == "again")
  }

  @Test("a local write whose end is not known leaves the cache in doubt")
  func localTimeout() async throws {
    let bench = try OutboxTests.Bench([Note(1, "old")]) { $0.local.timeout = .seconds(5) }
    _ = try await bench.store.execute(everyNote)
    #expect(try await bench.cache.find(1) != nil)
    // Someone else is writing.
    let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let repository = bench.repository
    let thread = Thread {
      try? repository.transaction { _ in
        begun.signal()
        ended.wait()
      }
    }
    thread.start()
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        begun.wait()
        continuation.resume()
      }
    }
    let task = Task { try await bench.store.save(Note(1, "new")) }
    await bench.clock.sleepers(1)
    bench.clock.advance(by: .seconds(5))
    let error = await #expect(throws: PersistenceError.self) { try await task.value }
    #expect(error?.code == .timedOut)
    #expect(try await bench.cache.find(1) == nil)
    ended.signal()
  }

  @Test("an absence is remembered no longer than an object is")
  func absences() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource<Note>(clock: clock)
    let cache = CacheDataSource<Note>(.init(age: .seconds(10)), now: { clock.date })
    let store = try LayeredDataSource(cache: cache, remote: remote, options: LayerBench.options(clock))
    #expect(try await store.find(7) == nil)
    try await remote.insert(Note(7))
    remote.answerOtherwise(.genuine.after(.seconds(1)))
    #expect(try await store.answer(for: 7, strategy: .fastestAvailable).source == .cache)
    remote.answerOtherwise(.genuine)
    clock.advance(by: .seconds(11))
    #expect(try await store.answer(for: 7, strategy: .fastestAvailable).value == Note(7))
  }

  @Test("writes of one object through one layer come one after another, too")
  func oneLayer() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource<Note>(clock: clock)
    let store = try LayeredDataSource<Note>(remote: remote)
    remote.script(.genuine.after(.seconds(1)), for: .save)
    let first = Task { try await store.save(Note(1, "first")) }
    await clock.sleepers(1)
    let second = Task { try await store.save(Note(1, "second")) }
    for _ in 0..<1000 { await Task.yield() }
    clock.advance(by: .seconds(1))
    _ = try await (first.value, second.value)
    #expect(try await remote.find(1)?.text == "second")
  }
}
