import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Reads behind a remote layer that accepts and hangs, with the default limits", .timeLimit(.minutes(1)))
struct HangingRemoteTests {
  private static let notes = (0..<3).map { Note($0, "old") }
  private static let total = Duration.seconds(10)

  /// A remote layer over a local repository.
  ///
  /// Only the clock differs from the default options.
  private struct TestBed {
    let clock = TestClock()
    let remote: ScriptedDataSource<Note>
    let source: LayeredDataSource<Note>

    init(change: (inout LayerOptions<Note>) -> Void = { _ in }) throws {
      remote = try ScriptedDataSource(notes, clock: clock)
      var options = LayerOptions<Note>()
      let clock = clock
      (options.clock, options.now) = (clock, { clock.date })
      change(&options)
      source = try LayeredDataSource(
        local: RepositoryDataSource<Note>.inMemory(), remote: remote, options: options)
    }

    /// Waits for a read that sleeps for its deadline and for other limits, of which only the deadline passes.
    func afterDeadline<Value: Sendable>(
      sleepers: Int, _ read: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
      let task = Task { try await read() }
      await clock.sleepers(sleepers)
      clock.advance(by: total)
      return try await task.value
    }
  }

  @Test("the first read is answered from below within ten seconds in total, and the next ones at once")
  func queries() async throws {
    let bed = try TestBed()
    let source = bed.source
    _ = try await source.execute(everyNote)
    bed.remote.answerOtherwise(.hangs)
    // The sleepers: the deadline of the read, and the limit of its attempt.
    let first = try await bed.afterDeadline(sleepers: 2) { try await source.answer(to: everyNote) }
    #expect(first.source == .local && first.value == Self.notes && first.isComplete)
    #expect(first.failures.map(\.error.code) == [.timedOut])
    let calls = bed.remote.calls.count
    bed.clock.advance(by: .seconds(29))
    for strategy in RetrievalStrategy.allCases {
      let next = try await source.answer(to: everyNote, strategy: strategy)
      #expect(next.source == .local && next.value == Self.notes && next.isComplete)
    }
    #expect(try await source.answer(for: 1).value == Self.notes[1])
    #expect(try await source.filter().count() == 3)
    #expect(bed.remote.calls.count == calls)
    // The pause is over.
    bed.clock.advance(by: .seconds(1))
    bed.remote.answerOtherwise(.genuine)
    #expect(try await source.answer(to: everyNote).isUpToDate)
  }

  @Test("look-ups and counts end within the same time, and open the breaker too", arguments: [true, false])
  func others(counts: Bool) async throws {
    let bed = try TestBed()
    let source = bed.source
    _ = try await source.execute(everyNote)
    bed.remote.answerOtherwise(.hangs)
    if counts {
      #expect(try await bed.afterDeadline(sleepers: 2) { try await source.filter().count() } == 3)
    } else {
      #expect(try await bed.afterDeadline(sleepers: 2) { try await source.find(2) } == Self.notes[2])
    }
    let calls = bed.remote.calls.count
    #expect(try await source.filter().count() == 3)
    #expect(try await source.execute(everyNote) == Self.notes)
    #expect(bed.remote.calls.count == calls)
  }

  @Test("the time includes the waiting writes that the read sends first")
  func outbox() async throws {
    let bed = try TestBed { $0.writes = .localFirst }
    let source = bed.source
    _ = try await source.execute(everyNote)
    bed.remote.answerOtherwise(.hangs)
    try await source.save(Note(1, "mine"))
    await bed.remote.calls { $0.last?.operation == .apply }
    // The sleepers: the limit of the batch, the deadline of the read, and the limit of its sending.
    let answer = try await bed.afterDeadline(sleepers: 3) { try await source.answer(to: everyNote) }
    #expect(answer.source == .local && answer.value[1].text == "mine" && answer.isComplete)
    #expect(try await source.execute(everyNote)[1].text == "mine")
  }

  @Test(
    "a write that the remote layer answers ends the pause", arguments: [WritePolicy.remoteFirst, .localFirst])
  func write(policy: WritePolicy) async throws {
    let bed = try TestBed {
      $0.writes = policy
      $0.remote.retry = .once
    }
    _ = try await bed.source.execute(everyNote)
    bed.remote.script(.failure(LayerTestBed.gone), for: .execute)
    #expect(try await bed.source.answer(to: everyNote).source == .local)
    #expect(try await bed.source.answer(to: everyNote).source == .local)
    try await bed.source.save(Note(1, "mine"))
    try await bed.source.outbox?.send()
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
  }

  @Test("a paused remote layer is called if no other has an answer", arguments: RetrievalStrategy.allCases)
  func lastResort(strategy: RetrievalStrategy) async throws {
    let bed = try TestBed { $0.remote.retry = .once }
    bed.remote.script(.failure(LayerTestBed.gone), for: .execute)
    await #expect(throws: PersistenceError.self) { try await bed.source.execute(everyNote) }
    #expect(try await bed.source.answer(to: everyNote, strategy: strategy).isUpToDate)
  }

  @Test("a paused remote layer is the last of several answers, and counts, if no other has an answer")
  func lastResortOfOthers() async throws {
    let bed = try TestBed { $0.remote.retry = .once }
    bed.remote.script(.failure(LayerTestBed.gone), .genuine, for: .execute)
    await #expect(throws: PersistenceError.self) { try await bed.source.execute(everyNote) }
    var answers: [LayeredAnswer<[Note]>] = []
    for try await answer in bed.source.answers(to: everyNote) { answers.append(answer) }
    #expect(answers.count == 1 && answers.first?.isUpToDate == true)
    let other = try TestBed { $0.remote.retry = .once }
    other.remote.script(.failure(LayerTestBed.gone), for: .count)
    await #expect(throws: PersistenceError.self) { try await other.source.filter().count() }
    #expect(try await other.source.filter().count() == 3)
  }
}
