import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Retrieval strategies")
struct StrategyTests {
  private let notes = (0..<10).map { Note($0, "n\($0)") }

  // MARK: Up to date with fallback

  @Test("the remote store answers, and refreshes what lies below")
  func upToDate() async throws {
    let bench = try LayerBench(notes)
    let answer = try await bench.store.answer(to: everyNote)
    #expect(answer.isUpToDate && answer.value == notes && answer.failures.isEmpty)
    #expect(try await bench.local.execute(everyNote) == notes)
    #expect(try await bench.cache.execute(everyNote) == notes)
  }

  @Test("without the remote store the local one answers, and says how old that is")
  func fallback() async throws {
    let bench = try LayerBench(notes)
    _ = try await bench.store.answer(to: everyNote)
    bench.clock.advance(by: .seconds(90))
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    let answer = try await bench.store.answer(to: everyNote)
    #expect(answer.source == .local && answer.value == notes && answer.isComplete)
    #expect(answer.age == .seconds(90))
    #expect(answer.failures.map(\.layer) == [.remote] && answer.failures[0].error.code == .unreachable)
    // What is part of what was asked for then, too.
    let some = try await bench.store.answer(
      to: bench.store.filter(where: \.rank == 0).sorted(by: \.text).options)
    #expect(some.source == .local && some.isComplete && some.value.count == 10)
  }

  @Test("a question that makes no sense, and a refused token, are not answered from below")
  func noFallback() async throws {
    let bench = try LayerBench(notes)
    _ = try await bench.store.answer(to: everyNote)
    for code in [PersistenceError.Code.unauthorized, .invalidRequest, .patternTooSlow] {
      bench.remote.script(.failure(PersistenceError(code, "no")), for: .execute)
      let error = await #expect(throws: PersistenceError.self) { try await bench.store.answer(to: everyNote) }
      #expect(error?.code == code)
    }
    let error = await #expect(throws: PersistenceError.self) {
      try await bench.store.filter().limit(-1).result()
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test("an attempt that takes too long is given up, and tried again after a time that grows")
  func timeouts() async throws {
    let bench = try LayerBench(notes) {
      $0.remote = LayerLimits(
        timeout: .seconds(10),
        retry: RetryPolicy(attempts: 3, firstDelay: .seconds(2), jitter: 0.5, random: { 0.5 }))
    }
    bench.remote.script(.hangs, .failure(LayerBench.gone), .genuine, for: .execute)
    let task = Task { try await bench.store.answer(to: everyNote) }
    await bench.clock.sleepers(1)
    await bench.remote.calls { $0.count == 1 }
    bench.clock.advance(by: .seconds(10))
    await bench.remote.calls { $0.count == 1 && $0[0].outcome == .failed(.cancelled) }
    // Two seconds, less half of the half that is left to chance.
    await bench.clock.sleepers(1)
    bench.clock.advance(by: .milliseconds(1499))
    #expect(bench.remote.calls.count == 1)
    bench.clock.advance(by: .milliseconds(1))
    await bench.remote.calls { $0.count == 2 && $0[1].outcome == .failed(.unreachable) }
    await sleepersOnly(bench.clock)
    bench.clock.advance(by: .seconds(3))
    let answer = try await task.value
    #expect(answer.isUpToDate && bench.remote.calls.count == 3)
  }

  /// Waits until the timer of an attempt that ended is gone and the pause before the next has begun.
  private func sleepersOnly(_ clock: TestClock) async {
    await clock.sleepers(1)
    while clock.sleeperCount > 1 { await Task.yield() }
    await clock.sleepers(1)
  }

  @Test("errors that do not pass are not tried again")
  func noRetry() async throws {
    let bench = try LayerBench(notes) {
      $0.remote = LayerLimits(timeout: nil, retry: RetryPolicy(attempts: 5, jitter: 0))
    }
    bench.remote.answerOtherwise(.failure(LayerBench.broken))
    let error = await #expect(throws: PersistenceError.self) { try await bench.store.answer(to: everyNote) }
    #expect(error?.code == .inputOutput)
    #expect(bench.reads(.remote) == 1)
  }

  // MARK: Fastest available

  @Test("the first good answer wins, and the others are cancelled")
  func fastest() async throws {
    let bench = try LayerBench(notes) { $0.strategy = .fastestAvailable }
    #expect(try await bench.store.answer(to: everyNote).isUpToDate)
    bench.cache.script(.genuine.after(.seconds(2)), for: .execute)
    bench.local.script(.genuine.after(.seconds(1)), for: .execute)
    bench.remote.script(.hangs, for: .execute)
    let (cached, locals, remotes) = (
      bench.cache.calls.count, bench.local.calls.count, bench.remote.calls.count
    )
    let task = Task { try await bench.store.answer(to: everyNote) }
    await bench.cache.calls { $0.count > cached }
    await bench.local.calls { $0.count > locals }
    await bench.remote.calls { $0.count > remotes }
    await bench.clock.sleepers(5)  // two delays and three timeouts
    bench.clock.advance(by: .seconds(1))
    let answer = try await task.value
    #expect(answer.source == .local && answer.value == notes)
    await bench.remote.calls { $0.last?.outcome == .failed(.cancelled) }
    await bench.cache.calls { $0.last?.outcome == .failed(.cancelled) }
  }

  @Test("what is too old is no good answer, but better than none")
  func age() async throws {
    let bench = try LayerBench(notes) {
      $0.strategy = .fastestAvailable
      $0.cache.maximumAge = .seconds(60)
      $0.local.maximumAge = .seconds(60)
    }
    _ = try await bench.store.answer(to: everyNote)
    bench.clock.advance(by: .seconds(60))
    #expect(try await bench.store.answer(to: everyNote).source != .remote)
    bench.clock.advance(by: .seconds(1))
    bench.remote.script(.genuine, for: .execute)
    #expect(try await bench.store.answer(to: everyNote).isUpToDate)
    bench.clock.advance(by: .seconds(61))
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    let old = try await bench.store.answer(to: everyNote)
    #expect(old.source != .remote && old.isComplete && old.age == .seconds(61))
    #expect(old.failures.map(\.layer) == [.remote])
  }

  @Test("a cache that holds three of ten never answers as though it held all")
  func three() async throws {
    let cache = CacheDataSource<Note>()
    let remote = try ScriptedDataSource(notes)
    var options = LayerOptions<Note>()
    options.strategy = .fastestAvailable
    options.remote.retry = .once
    let store = try LayeredDataSource(cache: cache, remote: remote, options: options)
    for id in 0..<3 { _ = try await store.find(id) }
    #expect(cache.objectCount == 3)
    #expect(try await store.filter().result() == notes)
    cache.removeAll()
    for id in 0..<3 { _ = try await store.find(id) }
    remote.answerOtherwise(.failure(LayerBench.gone))
    let error = await #expect(throws: PersistenceError.self) { try await store.filter().result() }
    #expect(error?.code == .unreachable)
    await #expect(throws: PersistenceError.self) { try await store.filter().count() }
    await #expect(throws: PersistenceError.self) { try await store.find(5) }
    #expect(try await store.find(2) == notes[2])
    let some = try await store.answer(to: everyNote)
    #expect(!some.isComplete && some.value.count == 3 && some.age == nil)
  }

  // MARK: Several answers

  @Test("better and better answers come in turn, without repetition")
  func several() async throws {
    let bench = try LayerBench(notes)
    _ = try await bench.store.answer(to: everyNote)
    try await bench.remote.insert(Note(10))
    bench.cache.script(.genuine.after(.seconds(1)), for: .execute)
    bench.local.script(.genuine.after(.seconds(2)), for: .execute)
    bench.remote.script(.genuine.after(.seconds(3)), for: .execute)
    let clock = bench.clock
    let time = Task {
      await clock.sleepers(6)
      clock.advance(by: .seconds(1))
    }
    var answers = bench.store.answers(to: everyNote).makeAsyncIterator()
    let cached = try await answers.next()
    await time.value
    #expect(cached?.source == .cache && cached?.value == notes)
    // The local store has the same, which is not said again.
    bench.clock.advance(by: .seconds(2))
    let last = try await answers.next()
    #expect(last?.isUpToDate == true && last?.value == notes + [Note(10)])
    #expect(try await answers.next() == nil)
  }

  @Test("an answer of a lesser layer that comes late is dropped")
  func late() async throws {
    let bench = try LayerBench(notes)
    _ = try await bench.store.answer(to: everyNote)
    bench.cache.script(.genuine.after(.seconds(3)), for: .execute)
    bench.local.script(.genuine.after(.seconds(2)), for: .execute)
    try await bench.remote.delete(notes[0])
    var answers = bench.store.answers(to: everyNote).makeAsyncIterator()
    let first = try await answers.next()
    #expect(first?.isUpToDate == true && first?.value.count == 9)
    await bench.clock.sleepers(2)
    bench.clock.advance(by: .seconds(3))
    #expect(try await answers.next() == nil)
  }

  @Test("where the remote store fails, its error comes after the last answer")
  func failing() async throws {
    let bench = try LayerBench(notes)
    _ = try await bench.store.answer(for: 3)
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    var answers = bench.store.answers(for: 3).makeAsyncIterator()
    var found: [DataSourceLayer] = []
    let error = await #expect(throws: PersistenceError.self) {
      while let answer = try await answers.next() {
        found.append(answer.source)
        #expect(answer.value == notes[3])
      }
    }
    // The cache and the local store hold it, and either may be the first to say so; the other says nothing new.
    #expect(error?.code == .unreachable && (found == [.cache] || found == [.local]))
    // Of everything the layers hold a part, which is said to be one.
    var some: [LayeredAnswer<[Note]>] = []
    let second = await #expect(throws: PersistenceError.self) {
      for try await answer in bench.store.answers(to: everyNote) { some.append(answer) }
    }
    #expect(second?.code == .unreachable)
    #expect(some.count == 1 && some.first?.isComplete == false && some.first?.value == [notes[3]])
  }

  @Test("giving up a sequence of answers cancels the layers")
  func givingUp() async throws {
    let bench = try LayerBench(notes)
    _ = try await bench.store.answer(to: everyNote)
    bench.remote.script(.hangs, for: .execute)
    let calls = bench.remote.calls.count
    for try await answer in bench.store.answers(to: everyNote) {
      #expect(answer.source == .cache || answer.source == .local)
      await bench.remote.calls { $0.count > calls }
      break
    }
    await bench.remote.calls { $0.last?.outcome == .failed(.cancelled) }
  }

  @Test("a cancelled task gets no answer, by any strategy", arguments: RetrievalStrategy.allCases)
  func cancellation(strategy: RetrievalStrategy) async throws {
    let bench = try LayerBench(notes) { $0.strategy = strategy }
    for layer in DataSourceLayer.allCases { bench.layer(layer).answerOtherwise(.hangs) }
    let task = Task { try await bench.store.answer(to: everyNote) }
    await bench.remote.calls { $0.count == 1 }
    task.cancel()
    let error = await #expect(throws: PersistenceError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await bench.remote.calls { $0[0].outcome == .failed(.cancelled) }
  }
}
