import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceCore
import Testing

@Suite("What layers claim")
struct LayerClaimTests {
  typealias ReplicaKind = CoverageTests.ReplicaKind

  @Test(
    "A1 a layer claims only what the remote layer held, in random histories",
    arguments: LayerHistory.Layers.allCases)
  func histories(layers: LayerHistory.Layers) async throws {
    var claims = 0
    let seeds = Environment.isSoak ? 500 : 10
    for seed in 0..<seeds {
      var history = try LayerHistory(layers, seed: UInt64(seed))
      try await history.run(steps: 40)
      if !history.mistakes.isEmpty {
        Issue.record("seed \(seed): \(history.mistakes)\n\(history.steps.joined(separator: "\n"))")
        return
      }
      claims += history.claims
    }
    // Otherwise the histories would test nothing.
    #expect(claims > seeds)
  }

  private let notes = (0..<3).map { Note($0, "old") }

  /// A remote data source whose answers arrive late, over one replica that holds all of its objects.
  private struct TestBed {
    let clock = TestClock()
    let remote: ScriptedDataSource<Note>
    let late: LateAnswers
    let source: LayeredDataSource<Note>

    init(_ notes: [Note], _ below: ReplicaKind) async throws {
      remote = try ScriptedDataSource(notes, clock: clock)
      late = LateAnswers(remote, clock)
      var options = LayerTestBed.options(clock)
      (options.remote.timeout, options.local.timeout) = (nil, nil)
      source = try LayeredDataSource(local: below.layer(clock), remote: late, options: options)
      _ = try await source.execute(everyNote)
      clock.advance(by: .seconds(100))
      // Meanwhile, another device changed an object and inserted one.
      try await remote.save(Note(1, "new"))
      try await remote.insert(Note(7, "new"))
    }

    /// Starts a query whose answer arrives in a second.
    func beginQuery() async -> Task<[Note], any Error> {
      late.delay(.seconds(1))
      let task = Task { [source] in try await source.execute(everyNote) }
      await clock.sleepers(1)
      return task
    }
  }

  @Test(
    "A1 a write that is refused during a query leaves the answer's state", arguments: ReplicaKind.allCases,
    [PersistenceError.Code.uniqueViolation, .unauthorized, .readOnly, .busy])
  func refused(below: ReplicaKind, code: PersistenceError.Code) async throws {
    let bed = try await TestBed(notes, below)
    let query = await bed.beginQuery()
    bed.remote.script(.failure(PersistenceError(code, "no")), for: .save, .insert)
    await #expect(throws: PersistenceError.self) { try await bed.source.save(Note(1, "mine")) }
    await #expect(throws: PersistenceError.self) { try await bed.source.insert(Note(7, "mine")) }
    bed.clock.advance(by: .seconds(1))
    let truth = try await query.value
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.isComplete && answer.value == truth && answer.age == .seconds(1))
  }

  @Test(
    "A1 a write that meets a conflict during a query leaves the answer's state or a doubt",
    arguments: ReplicaKind.allCases, [PersistenceError.Code.duplicateKey, .conflict])
  func conflicting(below: ReplicaKind, code: PersistenceError.Code) async throws {
    let bed = try await TestBed(notes, below)
    let query = await bed.beginQuery()
    bed.remote.script(.failure(PersistenceError(code, "no")), for: .save, .insert)
    await #expect(throws: PersistenceError.self) { try await bed.source.save(Note(1, "mine")) }
    await #expect(throws: PersistenceError.self) { try await bed.source.insert(Note(7, "mine")) }
    bed.clock.advance(by: .seconds(1))
    let truth = try await query.value
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    if let answer = try? await bed.source.answer(to: everyNote) {
      #expect(!answer.isComplete || answer.value == truth)
    }
    #expect((try? await bed.source.find(1)) != Note(1, "old"))
    // The next answer ends the doubt.
    bed.remote.answerOtherwise(.genuine)
    #expect(try await bed.source.execute(everyNote) == truth)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await bed.source.execute(everyNote) == truth)
  }

  @Test("A1 a write in flight is not part of what a query makes known", arguments: ReplicaKind.allCases)
  func inFlight(below: ReplicaKind) async throws {
    let bed = try await TestBed(notes, below)
    let query = await bed.beginQuery()
    bed.remote.script(.hangs, for: .save)
    let write = Task { try await bed.source.save(Note(1, "mine")) }
    await bed.remote.calls { $0.last?.operation == .save && $0.last?.outcome == .inFlight }
    bed.clock.advance(by: .seconds(1))
    _ = try await query.value
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let answer = try await bed.source.answer(to: everyNote)
    // The earlier answer is still known, with its age.
    #expect(answer.value.first { $0.id == 1 } != Note(1, "old") || (answer.age ?? .zero) > .seconds(100))
    write.cancel()
    await #expect(throws: PersistenceError.self) { try await write.value }
    #expect((try? await bed.source.answer(to: everyNote))?.isComplete != true)
  }

  @Test("A1 an insertion that the local layer refuses during a query leaves the answer's state")
  func refusedLocally() async throws {
    let bed = try OutboxTests.TestBed(notes)
    _ = try await bed.source.execute(everyNote)
    try await bed.remote.save(Note(1, "new"))
    bed.remote.script(.genuine.after(.seconds(1)), for: .execute)
    let query = Task { try await bed.source.execute(everyNote) }
    await bed.clock.sleepers(1)
    let error = await #expect(throws: PersistenceError.self) { try await bed.source.insert(Note(1, "mine")) }
    #expect(error?.code == .duplicateKey)
    bed.clock.advance(by: .seconds(1))
    let truth = try await query.value
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    for strategy in [RetrievalStrategy.upToDateWithFallback, .fastestAvailable] {
      let answer = try await bed.source.answer(to: everyNote, strategy: strategy)
      #expect(answer.isComplete && answer.value == truth && truth[1].text == "new")
    }
  }

  @Test("A1 a look-up that a layer cannot store does not hide an older answer from it")
  func missedLookUp() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let late = LateAnswers(remote, clock)
    let local = try ScriptedDataSource<Note>()
    var options = LayerTestBed.options(clock)
    (options.remote.timeout, options.local.timeout) = (nil, nil)
    let source = try LayeredDataSource(local: local, remote: late, options: options)
    _ = try await source.execute(everyNote)
    try await remote.save(Note(1, "new"))
    late.delay(.seconds(1))
    let query = Task { try await source.execute(everyNote) }
    await clock.sleepers(1)
    try await remote.save(Note(1, "newer"))
    local.script(.failure(LayerTestBed.broken), for: .apply)
    let found = try await source.answer(for: 1)
    #expect(found.value?.text == "newer" && found.failures.map(\.layer) == [.local])
    clock.advance(by: .seconds(1))
    _ = try await query.value
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.answer(to: everyNote).value[1].text == "new")
  }
}
