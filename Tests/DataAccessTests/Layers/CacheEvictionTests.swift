import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Answers that arrive after an eviction")
struct CacheEvictionTests {
  private let notes = [Note(1, rank: 1), Note(2, rank: 1)] + (10..<14).map { Note($0) }

  private static func options(_ clock: TestClock) -> LayerOptions<Note> {
    var options = LayerTestBed.options(clock)
    (options.remote.timeout, options.local.timeout, options.cache.timeout) = (nil, nil, nil)
    return options
  }

  @Test(
    "A1 a late answer is not complete without an object that was written and evicted meanwhile",
    .timeLimit(.minutes(1)), arguments: [Note(1, "new", rank: 1), Note(3, "new", rank: 1)])
  func late(written: Note) async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let late = LateAnswers(remote, clock)
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(count: 4), now: { clock.date })
    let source = try LayeredDataSource(cache: cache, remote: late, options: Self.options(clock))
    let rank1 = source.filter(where: \.rank == 1)
    late.delay(.seconds(1))
    let slow = Task { try await rank1.result() }
    await clock.sleepers(1)
    try await source.save(written)
    for id in 10..<14 { _ = try await source.find(id) }
    #expect(try await cache.find(written.id) == nil)
    clock.advance(by: .seconds(1))
    #expect(try await slow.value == Array(notes.prefix(2)))
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await rank1.result() }
    await #expect(throws: PersistenceError.self) { try await rank1.count() }
    // The next answer is complete again.
    remote.answerOtherwise(.genuine)
    let complete = try await rank1.result()
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await rank1.result() == complete && complete.contains(written))
  }

  @Test(
    "A1 an older answer of the local layer is not complete in the cache without an object that a newer part lacks",
    .timeLimit(.minutes(1)))
  func moved() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let local = try ScriptedDataSource<Note>(clock: clock)
    let cache = CacheDataSource<Note>(now: { clock.date })
    let source = try LayeredDataSource(
      cache: cache, local: local, remote: remote, options: Self.options(clock))
    _ = try await source.execute(everyNote)
    cache.removeAll()
    clock.advance(by: .seconds(1))
    try await remote.save(Note(1, "moved"))
    // The local layer cannot store the newer answer, and keeps the older part.
    local.script(.failure(LayerTestBed.broken), for: .apply)
    let answer = try await source.answer(to: source.filter(where: \.rank == 1).options)
    #expect(answer.value == [notes[1]] && answer.failures.map(\.layer) == [.local])
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    for strategy in [RetrievalStrategy.upToDateWithFallback, .fastestAvailable] {
      let answer = try await source.answer(to: everyNote, strategy: strategy)
      #expect(answer.isComplete && answer.value.contains { $0.id == 1 }, "\(answer.source)")
    }
  }
}
