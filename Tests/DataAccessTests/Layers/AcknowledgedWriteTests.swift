import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// Answers to questions from before a waiting write was acknowledged.
@Suite("Answers from before an acknowledged write")
struct AcknowledgedWriteTests {
  /// A scripted remote data source with late answers, and layered data sources over it and one repository, each with a
  /// cache of its own, like several processes.
  private struct TestBed {
    let clock = TestClock()
    let remote: ScriptedDataSource<Note>
    let late: LateAnswers
    let sources: [LayeredDataSource<Note>]

    init(_ notes: [Note], count: Int) throws {
      let clock = clock
      remote = try ScriptedDataSource(notes, clock: clock)
      late = LateAnswers(remote, clock)
      let (repository, late) = (Repository(MemoryContext()), late)
      var options = LayerTestBed.options(clock)
      options.writes = .localFirst
      (options.cache, options.local, options.remote) = (LayerLimits(), LayerLimits(), LayerLimits())
      // The sender in the background never makes a second attempt.
      options.outbox = RetryPolicy(firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
      let finished = options
      sources = try (0..<count).map { _ in
        try LayeredDataSource(
          cache: CacheDataSource<Note>(clock: clock, now: { clock.date }),
          local: repository.dataSource(of: Note.self), remote: late, options: finished)
      }
    }
  }

  @Test(
    "A1 an answer from before a write was acknowledged overwrites it in no layer, whichever process sends it",
    .timeLimit(.minutes(1)), arguments: [1, 2], [Note(1, "mine"), Note(3, "mine"), nil])
  func late(processes: Int, written: Note?) async throws {
    let notes = [Note(1, "old"), Note(2)]
    let bed = try TestBed(notes, count: processes)
    let (writer, reader) = (bed.sources[0], bed.sources[processes - 1])
    _ = try await writer.execute(everyNote)
    // The senders of all sources try in the background, whenever they are scheduled, and sleep.
    bed.late.refusal = PersistenceError(.unauthorized, "expired token")
    if let written { try await writer.save(written) } else { try await writer.delete(notes[0]) }
    bed.late.delay(.seconds(1))
    let slow = Task { try await reader.execute(everyNote) }
    await bed.remote.calls { $0.count { $0.operation == .execute && $0.outcome != .inFlight } == 2 }
    bed.late.refusal = nil
    try await writer.outbox?.send()
    #expect(try await writer.outbox?.count() == 0)
    let passing = Task { [clock = bed.clock] in
      while !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    _ = try await slow.value
    passing.cancel()
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let key = written?.id ?? 1
    for source in bed.sources {
      for strategy in [RetrievalStrategy.upToDateWithFallback, .fastestAvailable] {
        let one = try? await source.answer(for: key, strategy: strategy)
        #expect(one == nil || one?.value == written)
        let all = try? await source.answer(to: everyNote, strategy: strategy)
        #expect(all?.isComplete != true || all?.value.first { $0.id == key } == written)
      }
    }
  }

  @Test("A1 a read that sends a waiting write stores the answer that contains it")
  func sentByRead() async throws {
    let bed = try TestBed([Note(1, "old")], count: 1)
    let source = bed.sources[0]
    bed.remote.script(.failure(LayerTestBed.gone), for: .apply)
    try await source.save(Note(1, "mine"))
    await bed.clock.sleepers(1)
    try await bed.remote.insert(Note(2, "theirs"))
    #expect(try await source.answer(to: everyNote).isUpToDate)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let offline = try await source.answer(to: everyNote)
    #expect(offline.isComplete && offline.value == [Note(1, "mine"), Note(2, "theirs")])
  }
}
