import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Retrieval strategies")
struct StrategyTests {
  private let notes = (0..<10).map { Note($0, "n\($0)") }

  // MARK: Up to date with fallback

  @Test("the remote layer answers, and refreshes the replicas")
  func upToDate() async throws {
    let bed = try LayerTestBed(notes)
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.isUpToDate && answer.value == notes && answer.failures.isEmpty)
    #expect(try await bed.local.execute(everyNote) == notes)
    #expect(try await bed.cache.execute(everyNote) == notes)
  }

  @Test("without the remote layer the local one answers, with the age of its answer")
  func fallback() async throws {
    let bed = try LayerTestBed(notes)
    _ = try await bed.source.answer(to: everyNote)
    bed.clock.advance(by: .seconds(90))
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.source == .local && answer.value == notes && answer.isComplete)
    #expect(answer.age == .seconds(90))
    #expect(answer.failures.map(\.layer) == [.remote] && answer.failures[0].error.code == .unreachable)
    // A part of the earlier answer is known too.
    let some = try await bed.source.answer(
      to: bed.source.filter(where: \.rank == 0).sorted(by: \.text).options)
    #expect(some.source == .local && some.isComplete && some.value.count == 10)
  }

  @Test("an invalid query and an unauthorized one have no fallback")
  func noFallback() async throws {
    let bed = try LayerTestBed(notes)
    _ = try await bed.source.answer(to: everyNote)
    for code in [PersistenceError.Code.unauthorized, .invalidRequest, .patternTooSlow] {
      bed.remote.script(.failure(PersistenceError(code, "no")), for: .execute)
      let error = await #expect(throws: PersistenceError.self) { try await bed.source.answer(to: everyNote) }
      #expect(error?.code == code)
    }
    let error = await #expect(throws: PersistenceError.self) {
      try await bed.source.filter().limit(-1).result()
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test("an attempt that times out is retried after a growing delay")
  func timeouts() async throws {
    let bed = try LayerTestBed(notes) {
      $0.remote = LayerLimits(
        timeout: .seconds(10),
        retry: RetryPolicy(attempts: 3, firstDelay: .seconds(2), jitter: 0.5, random: { 0.5 }))
    }
    bed.remote.script(.hangs, .failure(LayerTestBed.gone), .genuine, for: .execute)
    let task = Task { try await bed.source.answer(to: everyNote) }
    await bed.clock.sleepers(1)
    await bed.remote.calls { $0.count == 1 }
    bed.clock.advance(by: .seconds(10))
    await bed.remote.calls { $0.count == 1 && $0[0].outcome == .failed(.cancelled) }
    // Two seconds, minus half of the random half.
    await bed.clock.sleepers(1)
    bed.clock.advance(by: .milliseconds(1499))
    #expect(bed.remote.calls.count == 1)
    bed.clock.advance(by: .milliseconds(1))
    await bed.remote.calls { $0.count == 2 && $0[1].outcome == .failed(.unreachable) }
    await sleepersOnly(bed.clock)
    bed.clock.advance(by: .seconds(3))
    let answer = try await task.value
    #expect(answer.isUpToDate && bed.remote.calls.count == 3)
  }

  /// Waits until the timer of the previous attempt is gone and the delay before the next one has started.
  private func sleepersOnly(_ clock: TestClock) async {
    await clock.sleepers(1)
    while clock.sleeperCount > 1 { await Task.yield() }
    await clock.sleepers(1)
  }

  @Test("errors that are not retryable are not retried")
  func noRetry() async throws {
    let bed = try LayerTestBed(notes) {
      $0.remote = LayerLimits(timeout: nil, retry: RetryPolicy(attempts: 5, jitter: 0))
    }
    bed.remote.answerOtherwise(.failure(LayerTestBed.broken))
    let error = await #expect(throws: PersistenceError.self) { try await bed.source.answer(to: everyNote) }
    #expect(error?.code == .inputOutput)
    #expect(bed.reads(.remote) == 1)
  }

  // MARK: Fastest available

  @Test("the first good answer wins, and the others are cancelled")
  func fastest() async throws {
    let bed = try LayerTestBed(notes) { $0.strategy = .fastestAvailable }
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
    bed.cache.script(.genuine.after(.seconds(2)), for: .execute)
    bed.local.script(.genuine.after(.seconds(1)), for: .execute)
    bed.remote.script(.hangs, for: .execute)
    let (cached, locals, remotes) = (
      bed.cache.calls.count, bed.local.calls.count, bed.remote.calls.count
    )
    let task = Task { try await bed.source.answer(to: everyNote) }
    await bed.cache.calls { $0.count > cached }
    await bed.local.calls { $0.count > locals }
    await bed.remote.calls { $0.count > remotes }
    await bed.clock.sleepers(5)  // two delays and three timeouts
    bed.clock.advance(by: .seconds(1))
    let answer = try await task.value
    #expect(answer.source == .local && answer.value == notes)
    await bed.remote.calls { $0.last?.outcome == .failed(.cancelled) }
    await bed.cache.calls { $0.last?.outcome == .failed(.cancelled) }
  }

  @Test("a stale answer is not good, but better than none")
  func age() async throws {
    let bed = try LayerTestBed(notes) {
      $0.strategy = .fastestAvailable
      $0.cache.maximumAge = .seconds(60)
      $0.local.maximumAge = .seconds(60)
    }
    _ = try await bed.source.answer(to: everyNote)
    bed.clock.advance(by: .seconds(60))
    #expect(try await bed.source.answer(to: everyNote).source != .remote)
    bed.clock.advance(by: .seconds(1))
    bed.remote.script(.genuine, for: .execute)
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
    bed.clock.advance(by: .seconds(61))
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let old = try await bed.source.answer(to: everyNote)
    #expect(old.source != .remote && old.isComplete && old.age == .seconds(61))
    #expect(old.failures.map(\.layer) == [.remote])
  }

  @Test("a cache with three of ten objects never returns them as all")
  func three() async throws {
    let cache = CacheDataSource<Note>()
    let remote = try ScriptedDataSource(notes)
    var options = LayerOptions<Note>()
    options.strategy = .fastestAvailable
    options.remote.retry = .once
    let source = try LayeredDataSource(cache: cache, remote: remote, options: options)
    for id in 0..<3 { _ = try await source.find(id) }
    #expect(cache.objectCount == 3)
    #expect(try await source.filter().result() == notes)
    cache.removeAll()
    for id in 0..<3 { _ = try await source.find(id) }
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let error = await #expect(throws: PersistenceError.self) { try await source.filter().result() }
    #expect(error?.code == .unreachable)
    await #expect(throws: PersistenceError.self) { try await source.filter().count() }
    await #expect(throws: PersistenceError.self) { try await source.find(5) }
    #expect(try await source.find(2) == notes[2])
    let some = try await source.answer(to: everyNote)
    #expect(!some.isComplete && some.value.count == 3 && some.age == nil)
  }

  // MARK: Several answers

  @Test("answers improve one after another, without repetition")
  func several() async throws {
    let bed = try LayerTestBed(notes)
    _ = try await bed.source.answer(to: everyNote)
    try await bed.remote.insert(Note(10))
    bed.cache.script(.genuine.after(.seconds(1)), for: .execute)
    bed.local.script(.genuine.after(.seconds(2)), for: .execute)
    bed.remote.script(.genuine.after(.seconds(3)), for: .execute)
    let clock = bed.clock
    let time = Task {
      await clock.sleepers(6)
      clock.advance(by: .seconds(1))
    }
    var answers = bed.source.answers(to: everyNote).makeAsyncIterator()
    let cached = try await answers.next()
    await time.value
    #expect(cached?.source == .cache && cached?.value == notes)
    // The local layer holds the same, which is not repeated.
    bed.clock.advance(by: .seconds(2))
    let last = try await answers.next()
    #expect(last?.isUpToDate == true && last?.value == notes + [Note(10)])
    #expect(try await answers.next() == nil)
  }

  @Test("a late answer of a lesser layer is discarded")
  func late() async throws {
    let bed = try LayerTestBed(notes)
    _ = try await bed.source.answer(to: everyNote)
    bed.cache.script(.genuine.after(.seconds(3)), for: .execute)
    bed.local.script(.genuine.after(.seconds(2)), for: .execute)
    try await bed.remote.delete(notes[0])
    var answers = bed.source.answers(to: everyNote).makeAsyncIterator()
    let first = try await answers.next()
    #expect(first?.isUpToDate == true && first?.value.count == 9)
    await bed.clock.sleepers(2)
    bed.clock.advance(by: .seconds(3))
    #expect(try await answers.next() == nil)
  }

  @Test("if the remote layer fails, its error follows the last answer")
  func failing() async throws {
    let bed = try LayerTestBed(notes)
    _ = try await bed.source.answer(for: 3)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    var answers = bed.source.answers(for: 3).makeAsyncIterator()
    var found: [DataSourceLayer] = []
    let error = await #expect(throws: PersistenceError.self) {
      while let answer = try await answers.next() {
        found.append(answer.source)
        #expect(answer.value == notes[3])
      }
    }
    // The cache and the local layer hold it. Either may answer first; the other has nothing new.
    #expect(error?.code == .unreachable && (found == [.cache] || found == [.local]))
    // The layers hold only a part of all objects, and mark the answer as incomplete.
    var some: [LayeredAnswer<[Note]>] = []
    let second = await #expect(throws: PersistenceError.self) {
      for try await answer in bed.source.answers(to: everyNote) { some.append(answer) }
    }
    #expect(second?.code == .unreachable)
    #expect(some.count == 1 && some.first?.isComplete == false && some.first?.value == [notes[3]])
  }

  @Test("ending the iteration of answers cancels the layers")
  func givingUp() async throws {
    let bed = try LayerTestBed(notes)
    _ = try await bed.source.answer(to: everyNote)
    bed.remote.script(.hangs, for: .execute)
    let calls = bed.remote.calls.count
    for try await answer in bed.source.answers(to: everyNote) {
      #expect(answer.source == .cache || answer.source == .local)
      await bed.remote.calls { $0.count > calls }
      break
    }
    await bed.remote.calls { $0.last?.outcome == .failed(.cancelled) }
  }

  @Test("a cancelled task gets no answer, with any strategy", arguments: RetrievalStrategy.allCases)
  func cancellation(strategy: RetrievalStrategy) async throws {
    let bed = try LayerTestBed(notes) { $0.strategy = strategy }
    for layer in DataSourceLayer.allCases { bed.layer(layer).answerOtherwise(.hangs) }
    let task = Task { try await bed.source.answer(to: everyNote) }
    await bed.remote.calls { $0.count == 1 }
    task.cancel()
    let error = await #expect(throws: PersistenceError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await bed.remote.calls { $0[0].outcome == .failed(.cancelled) }
  }
}
