import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Late answers")
struct LateAnswerTests {
  typealias ReplicaKind = CoverageTests.ReplicaKind

  private let notes = (0..<20).map { Note($0, "n\($0 % 4)", rank: $0 / 5) }

  /// A remote data source with late answers, and a layered data source over it and one replica.
  private struct TestBed {
    let clock = TestClock()
    let remote: ScriptedDataSource<Note>
    let late: LateAnswers
    let layer: any DataSource<Note>
    let source: LayeredDataSource<Note>

    init(
      _ notes: [Note], _ below: ReplicaKind, assign: @escaping @Sendable (Note) -> Note = { $0 }
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
      source = try LayeredDataSource(local: layer, remote: late, options: Self.options(clock))
    }

    static func options(_ clock: TestClock) -> LayerOptions<Note> {
      var options = LayerTestBed.options(clock)
      (options.remote.timeout, options.local.timeout, options.cache.timeout) = (nil, nil, nil)
      return options
    }

    func goOffline() { remote.answerOtherwise(.failure(LayerTestBed.gone)) }
  }

  @Test("a late answer does not overwrite that of a newer query", arguments: ReplicaKind.allCases)
  func queries(below: ReplicaKind) async throws {
    let bed = try TestBed(notes, below)
    let rank7 = bed.source.filter(where: \.rank == 7)
    bed.late.delay(.seconds(1))
    let slow = Task { try await bed.source.execute(everyNote) }
    await bed.clock.sleepers(1)
    try await bed.remote.insert(Note(50, "later", rank: 7))
    try await bed.remote.delete(Note(1))
    #expect(try await rank7.result().map(\.id) == [50])
    #expect(try await bed.source.find(1) == nil)
    bed.clock.advance(by: .seconds(1))
    #expect(try await slow.value.count == 20)
    bed.goOffline()
    #expect(try await rank7.result().map(\.id) == [50])
    #expect(try await bed.source.find(1) == nil)
  }

  @Test("a late answer does not overwrite that of a newer look-up", arguments: ReplicaKind.allCases)
  func keys(below: ReplicaKind) async throws {
    let bed = try TestBed(notes, below)
    bed.late.delay(.seconds(1))
    let slow = Task { try await bed.source.execute(everyNote) }
    await bed.clock.sleepers(1)
    try await bed.remote.save(Note(1, "newer"))
    try await bed.remote.delete(Note(2))
    try await bed.remote.insert(Note(50))
    for id in [1, 2, 50] { _ = try await bed.source.find(id) }
    bed.clock.advance(by: .seconds(1))
    _ = try await slow.value
    bed.goOffline()
    let held = try await bed.source.execute(everyNote)
    #expect(held.map(\.id) == [0, 1] + Array(3..<20) + [50] && held[1].text == "newer")
    // The same for one key.
    bed.remote.answerOtherwise(.genuine)
    bed.late.delay(.seconds(1))
    let old = Task { try await bed.source.find(3) }
    await bed.clock.sleepers(1)
    try await bed.remote.save(Note(3, "newer"))
    _ = try await bed.source.find(3)
    bed.clock.advance(by: .seconds(1))
    #expect(try await old.value == notes[3])
    bed.goOffline()
    #expect(try await bed.source.find(3)?.text == "newer")
  }

  @Test(
    "look-ups of several keys are all recorded, in any order of arrival", arguments: ReplicaKind.allCases)
  func manyKeys(below: ReplicaKind) async throws {
    let bed = try TestBed(notes, below)
    var tasks: [Task<Note?, any Error>] = []
    for (number, seconds) in [3, 1, 2].enumerated() {
      bed.late.delay(.seconds(seconds))
      tasks.append(Task { try await bed.source.find(number) })
      await bed.clock.sleepers(number + 1)
    }
    for _ in 0..<3 { bed.clock.advance(by: .seconds(1)) }
    for task in tasks { _ = try await task.value }
    bed.goOffline()
    for number in 0..<3 { #expect(try await bed.source.find(number) == notes[number]) }
  }

  @Test("an answer of the local layer does not overwrite a newer one in the cache")
  func cacheFill() async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes + [Note(50, "x", rank: 7)], clock: clock)
    let local = LateAnswers(try RepositoryDataSource<Note>.inMemory(), clock)
    let cache = CacheDataSource<Note>(now: { clock.date })
    let source = try LayeredDataSource(
      cache: cache, local: local, remote: remote, options: TestBed.options(clock))
    let rank7 = source.filter(where: \.rank == 7)
    _ = try await source.execute(everyNote)
    cache.removeAll()
    remote.script(.failure(LayerTestBed.gone), for: .execute)
    local.delay(.seconds(1))
    let slow = Task { try await source.answer(to: everyNote) }
    await clock.sleepers(1)
    try await remote.delete(Note(50))
    #expect(try await rank7.result().isEmpty)
    clock.advance(by: .seconds(1))
    #expect(try await slow.value.source == .local)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.answer(to: rank7.options, strategy: .fastestAvailable).value.isEmpty)
  }

  @Test(
    "an object absent from one region may have moved to another, which is then incomplete",
    arguments: ReplicaKind.allCases)
  func moved(below: ReplicaKind) async throws {
    let bed = try TestBed(notes, below)
    _ = try await bed.source.execute(everyNote)
    let (rank1, rank2) = (bed.source.filter(where: \.rank == 1), bed.source.filter(where: \.rank == 2))
    _ = try await rank2.result()
    _ = try await bed.source.find(7)
    try await bed.remote.save(Note(7, "moved", rank: 9))
    #expect(try await rank1.result().map(\.id) == [5, 6, 8, 9])
    bed.goOffline()
    #expect(try await rank1.result().map(\.id) == [5, 6, 8, 9])
    #expect(try await rank2.count() == 5)
    await #expect(throws: PersistenceError.self) { try await bed.source.find(7) }
    await #expect(throws: PersistenceError.self) { try await bed.source.execute(everyNote) }
    await #expect(throws: PersistenceError.self) { try await bed.source.filter(where: \.rank == 9).result() }
  }

  @Test(
    "a late answer does not overwrite an object with a key from the server", arguments: ReplicaKind.allCases)
  func assignedKey(below: ReplicaKind) async throws {
    let bed = try TestBed(notes, below) { Note($0.id + 100, $0.text) }
    _ = try await bed.source.execute(everyNote)
    bed.late.delay(.seconds(1))
    let slow = Task { try await bed.source.execute(everyNote) }
    await bed.clock.sleepers(1)
    #expect(try await bed.source.insert(Note(50)).id == 150)
    bed.clock.advance(by: .seconds(1))
    _ = try await slow.value
    bed.goOffline()
    #expect(try await bed.source.find(150) == Note(150))
    // The key that was sent is not stale.
    #expect(try await bed.source.find(50) == nil)
  }

  // MARK: Two layered data sources on one repository, like two processes

  private func pair() throws -> (
    first: LayeredDataSource<Note>, second: LayeredDataSource<Note>, late: LateAnswers,
    remote: ScriptedDataSource<Note>,
    repository: Repository, clock: TestClock
  ) {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let repository = Repository(MemoryContext())
    let late = LateAnswers(remote, clock)
    let options = TestBed.options(clock)
    return (
      try LayeredDataSource(local: repository.dataSource(of: Note.self), remote: remote, options: options),
      try LayeredDataSource(local: repository.dataSource(of: Note.self), remote: late, options: options),
      late, remote, repository, clock
    )
  }

  @Test("an older answer of another layered data source neither overwrites a newer one nor clears stale keys")
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
    remote.script(.failure(LayerTestBed.gone), for: .find)
    #expect(try await first.find(1)?.text == "newer")

    slow = Task { try await second.execute(everyNote) }
    await clock.sleepers(1)
    remote.script(.lost(LayerTestBed.gone), for: .save)
    await #expect(throws: PersistenceError.self) { try await first.save(Note(1, "unknown")) }
    clock.advance(by: .seconds(2))
    _ = try await slow.value
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await first.find(1) }
    await #expect(throws: PersistenceError.self) { try await second.execute(everyNote) }
  }

  @Test("answers and writes of another layered data source keep the pending writes of this one")
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
    // Like a restart: the write was announced, and its outcome is unknown.
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let third = try LayeredDataSource<Note>(
      local: repository.dataSource(of: Note.self), remote: remote, options: TestBed.options(clock))
    await #expect(throws: PersistenceError.self) { try await third.find(1) }
    await #expect(throws: PersistenceError.self) { try await third.execute(everyNote) }
    #expect(try await third.find(2) == notes[2])
    killed.cancel()
    _ = await killed.result
  }

  @Test("regions that load concurrently at the start are all recorded, for any last writer")
  func sideBySide() async throws {
    let (first, second, late, remote, _, clock) = try pair()
    _ = try await first.find(1)
    late.delay(.seconds(1))
    let slow = Task { try await second.find(2) }
    await clock.sleepers(1)
    _ = try await second.find(3)
    clock.advance(by: .seconds(1))
    _ = try await slow.value
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    for id in 1...3 { #expect(try await second.find(id) == notes[id]) }
  }
}
