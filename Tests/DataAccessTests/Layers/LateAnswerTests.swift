import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing
import PersistenceDriverSupport

/// Answers that arrive after something younger is known.
@Suite("Late answers")
struct LateAnswerTests {
  typealias Below = CoverageTests.Below

  private let notes = (0..<20).map { Note($0, "n\($0 % 4)", rank: $0 / 5) }

  /// A remote store whose answers can be late, and a store over it and one layer.
  private struct Bench {
    let clock = TestClock()
    let remote: ScriptedDataSource<Note>
    let late: LateAnswers
    let layer: any DataSource<Note>
    let store: LayeredDataSource<Note>

    init(
      _ notes: [Note], _ below: Below, assign: @escaping @Sendable (Note) -> Note = { $0 }
    ) throws {
      let clock = clock
      remote = try ScriptedDataSource(notes, clock: clock)
      late = LateAnswers(remote, clock, assign: assign)
      layer =
        switch below {
        case .cache: CacheDataSource<Note>(now: { clock.date })
        case .repository: try RepositoryDataSource<Note>.inMemory()
        case .other: try ScriptedDataSource<Note>()
        }
      store = try LayeredDataSource(local: layer, remote: late, options: Self.options(clock))
    }

    static func options(_ clock: TestClock) -> LayerOptions<Note> {
      var options = LayerBench.options(clock)
      (options.remote.timeout, options.local.timeout, options.cache.timeout) = (nil, nil, nil)
      return options
    }

    func goOffline() { remote.answerOtherwise(.failure(LayerBench.gone)) }
  }

  @Test("an answer that was asked for earlier does not undo one to a later query", arguments: Below.allCases)
  func queries(below: Below) async throws {
    let bench = try Bench(notes, below)
    let rank7 = bench.store.filter(where: \.rank == 7)
    bench.late.delay(.seconds(1))
    let slow = Task { try await bench.store.execute(everyNote) }
    await bench.clock.sleepers(1)
    try await bench.remote.insert(Note(50, "later", rank: 7))
    try await bench.remote.delete(Note(1))
    #expect(try await rank7.result().map(\.id) == [50])
    #expect(try await bench.store.find(1) == nil)
    bench.clock.advance(by: .seconds(1))
    #expect(try await slow.value.count == 20)
    bench.goOffline()
    #expect(try await rank7.result().map(\.id) == [50])
    #expect(try await bench.store.find(1) == nil)
  }

  @Test("nor one to a later look-up, whose key it leaves alone", arguments: Below.allCases)
  func keys(below: Below) async throws {
    let bench = try Bench(notes, below)
    bench.late.delay(.seconds(1))
    let slow = Task { try await bench.store.execute(everyNote) }
    await bench.clock.sleepers(1)
    try await bench.remote.save(Note(1, "newer"))
    try await bench.remote.delete(Note(2))
    try await bench.remote.insert(Note(50))
    for id in [1, 2, 50] { _ = try await bench.store.find(id) }
    bench.clock.advance(by: .seconds(1))
    _ = try await slow.value
    bench.goOffline()
    let held = try await bench.store.execute(everyNote)
    #expect(held.map(\.id) == [0, 1] + Array(3..<20) + [50] && held[1].text == "newer")
    // Of one key, too.
    bench.remote.answerOtherwise(.genuine)
    bench.late.delay(.seconds(1))
    let old = Task { try await bench.store.find(3) }
    await bench.clock.sleepers(1)
    try await bench.remote.save(Note(3, "newer"))
    _ = try await bench.store.find(3)
    bench.clock.advance(by: .seconds(1))
    #expect(try await old.value == notes[3])
    bench.goOffline()
    #expect(try await bench.store.find(3)?.text == "newer")
  }

  @Test(
    "look-ups of several keys are all written down, in whatever order they arrive", arguments: Below.allCases)
  func manyKeys(below: Below) async throws {
    let bench = try Bench(notes, below)
    var tasks: [Task<Note?, any Error>] = []
    for (number, seconds) in [3, 1, 2].enumerated() {
      bench.late.delay(.seconds(seconds))
      tasks.append(Task { try await bench.store.find(number) })
      await bench.clock.sleepers(number + 1)
    }
    for _ in 0..<3 { bench.clock.advance(by: .seconds(1)) }
    for task in tasks { _ = try await task.value }
    bench.goOffline()
    for number in 0..<3 { #expect(try await bench.store.find(number) == notes[number]) }
  }

  @Test("what the cache takes over from the local store does not undo a younger answer")
  func cacheFill() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes + [Note(50, "x", rank: 7)], clock: clock)
    let local = LateAnswers(try RepositoryDataSource<Note>.inMemory(), clock)
    let cache = CacheDataSource<Note>(now: { clock.date })
    let store = try LayeredDataSource(
      cache: cache, local: local, remote: remote, options: Bench.options(clock))
    let rank7 = store.filter(where: \.rank == 7)
    _ = try await store.execute(everyNote)
    cache.removeAll()
    remote.script(.failure(LayerBench.gone), for: .execute)
    local.delay(.seconds(1))
    let slow = Task { try await store.answer(to: everyNote) }
    await clock.sleepers(1)
    try await remote.delete(Note(50))
    #expect(try await rank7.result().isEmpty)
    clock.advance(by: .seconds(1))
    #expect(try await slow.value.source == .local)
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await store.answer(to: rank7.options, strategy: .fastestAvailable).value.isEmpty)
  }

  @Test(
    "what is missing from one part may be of another now, which is whole no more", arguments: Below.allCases)
  func moved(below: Below) async throws {
    let bench = try Bench(notes, below)
    _ = try await bench.store.execute(everyNote)
    let (rank1, rank2) = (bench.store.filter(where: \.rank == 1), bench.store.filter(where: \.rank == 2))
    _ = try await rank2.result()
    _ = try await bench.store.find(7)
    try await bench.remote.save(Note(7, "moved", rank: 9))
    #expect(try await rank1.result().map(\.id) == [5, 6, 8, 9])
    bench.goOffline()
    #expect(try await rank1.result().map(\.id) == [5, 6, 8, 9])
    #expect(try await rank2.count() == 5)
    await #expect(throws: PersistenceError.self) { try await bench.store.find(7) }
    await #expect(throws: PersistenceError.self) { try await bench.store.execute(everyNote) }
    await #expect(throws: PersistenceError.self) { try await bench.store.filter(where: \.rank == 9).result() }
  }

  @Test("an object that the remote store gave another key is not undone either", arguments: Below.allCases)
  func assignedKey(below: Below) async throws {
    let bench = try Bench(notes, below) { Note($0.id + 100, $0.text) }
    _ = try await bench.store.execute(everyNote)
    bench.late.delay(.seconds(1))
    let slow = Task { try await bench.store.execute(everyNote) }
    await bench.clock.sleepers(1)
    #expect(try await bench.store.insert(Note(50)).id == 150)
    bench.clock.advance(by: .seconds(1))
    _ = try await slow.value
    bench.goOffline()
    #expect(try await bench.store.find(150) == Note(150))
    // Nothing is in doubt about the key that was sent.
    #expect(try await bench.store.find(50) == nil)
  }

  // MARK: Two stores on one repository, as two processes are

  private func pair() throws -> (
    first: LayeredDataSource<Note>, second: LayeredDataSource<Note>, late: LateAnswers,
    remote: ScriptedDataSource<Note>,
    repository: Repository, clock: TestClock
  ) {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let repository = Repository(MemoryContext())
    let late = LateAnswers(remote, clock)
    let options = Bench.options(clock)
    return (
      try LayeredDataSource(local: repository.dataSource(of: Note.self), remote: remote, options: options),
      try LayeredDataSource(local: repository.dataSource(of: Note.self), remote: late, options: options),
      late, remote, repository, clock
    )
  }

  @Test("another store's older answer neither replaces what this one learnt, nor ends its doubts")
  func otherStore() async throws {
    let (first, second, late, remote, _, clock) = try pair()
    _ = try await first.execute(everyNote)
    late.delay(.seconds(1), .seconds(2))
    var slow = Task { try await second.execute(everyNote) }
    await clock.sleepers(1)
    try await remote.save(Note(1, "newer"))
    _ = try await first.find(1)
    clock.advance(by: .seconds(1))
    _ = try await slow.value
    remote.script(.failure(LayerBench.gone), for: .find)
    #expect(try await first.find(1)?.text == "newer")

    slow = Task { try await second.execute(everyNote) }
    await clock.sleepers(1)
    remote.script(.lost(LayerBench.gone), for: .save)
    await #expect(throws: PersistenceError.self) { try await first.save(Note(1, "unknown")) }
    clock.advance(by: .seconds(2))
    _ = try await slow.value
    remote.answerOtherwise(.failure(LayerBench.gone))
    await #expect(throws: PersistenceError.self) { try await first.find(1) }
    await #expect(throws: PersistenceError.self) { try await second.execute(everyNote) }
  }

  @Test("another store's answer does not take back what this one announced, nor do its writes")
  func announced() async throws {
    let (first, second, _, remote, repository, clock) = try pair()
    _ = try await first.execute(everyNote)
    _ = try await second.execute(everyNote)
    remote.script(.hangs, for: .save)
    let killed = Task { try await first.save(Note(1, "killed")) }
    await remote.calls { $0.last?.operation == .save }
    _ = try await second.execute(everyNote)
    remote.script(.failure(PersistenceError(.uniqueViolation, "no")), for: .save)
    await #expect(throws: PersistenceError.self) { try await second.save(Note(1, "refused")) }
    // As after a restart: the write was announced, and nobody knows what became of it.
    remote.answerOtherwise(.failure(LayerBench.gone))
    let third = try LayeredDataSource<Note>(
      local: repository.dataSource(of: Note.self), remote: remote, options: Bench.options(clock))
    await #expect(throws: PersistenceError.self) { try await third.find(1) }
    await #expect(throws: PersistenceError.self) { try await third.execute(everyNote) }
    #expect(try await third.find(2) == notes[2])
    killed.cancel()
    _ = await killed.result
  }

  @Test("parts that are loaded side by side at the start are all written down, whoever wrote last")
  func sideBySide() async throws {
    let (first, second, late, remote, _, clock) = try pair()
    _ = try await first.find(1)
    late.delay(.seconds(1))
    let slow = Task { try await second.find(2) }
    await clock.sleepers(1)
    _ = try await second.find(3)
    clock.advance(by: .seconds(1))
    _ = try await slow.value
    remote.answerOtherwise(.failure(LayerBench.gone))
    for id in 1...3 { #expect(try await second.find(id) == notes[id]) }
  }
}
