import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

/// What a layer holds whole, and what it does not.
@Suite("What layers know of their completeness")
struct CoverageTests {
  /// The kinds of layers below the remote store.
  enum Below: String, CaseIterable, Sendable {
    case cache, repository, other

    func layer(_ clock: TestClock) throws -> any DataSource<Note> {
      switch self {
      case .cache: CacheDataSource<Note>(now: { clock.date })
      case .repository: try RepositoryDataSource<Note>.inMemory()
      case .other: try ScriptedDataSource<Note>()
      }
    }
  }

  private let notes = (0..<20).map { Note($0, "n\($0 % 4)", rank: $0 / 5) }

  private func bench(_ below: Below) throws -> (
    store: LayeredDataSource<Note>, remote: ScriptedDataSource<Note>, layer: any DataSource<Note>,
    clock: TestClock
  ) {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let layer = try below.layer(clock)
    let store = try LayeredDataSource(local: layer, remote: remote, options: LayerBench.options(clock))
    return (store, remote, layer, clock)
  }

  @Test("what was asked for whole can be asked for in every order and cut", arguments: Below.allCases)
  func whole(below: Below) async throws {
    let (store, remote, _, _) = try bench(below)
    let rank1 = store.filter(where: \.rank == 1)
    _ = try await rank1.result()
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await rank1.sorted(by: \.text).limit(2).result().map(\.id) == [8, 5])
    #expect(try await rank1.offset(3).result().map(\.id) == [8, 9])
    #expect(try await rank1.filter(where: \.text == "n1").result().map(\.id) == [5, 9])
    #expect(try await rank1.count() == 5)
    #expect(try await rank1.after(Note(7, "", rank: 1)).result().map(\.id) == [8, 9])
    for query in [
      store.filter(), store.filter(where: \.rank <= 1), store.filter(where: \.rank == 1 || \.rank == 2),
    ] {
      await #expect(throws: PersistenceError.self) { try await query.result() }
    }
    #expect(try await store.filter(where: PersistentPredicate.none).result().isEmpty)
  }

  @Test("V3 what was asked for with one form of é says nothing of the other", arguments: Below.allCases)
  func canonicalEquivalents(below: Below) async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource([Note(1, "x\u{E9}"), Note(2, "xe\u{301}")], clock: clock)
    let store = try LayeredDataSource(
      local: try below.layer(clock), remote: remote, options: LayerBench.options(clock))
    #expect(try await store.filter(where: .contains(\.text, "\u{E9}")).result().map(\.id) == [1])
    #expect(try await store.filter(where: .contains(\.text, "e\u{301}")).result().map(\.id) == [2])
    #expect(try await store.filter(where: .contains(\.text, "\u{E9}") && \.id > 0).result().map(\.id) == [1])
    #expect(try await store.filter(where: .hasPrefix(\.text, "xe\u{301}")).result().map(\.id) == [2])
  }

  @Test("of a page the same page is known, and less, but not more", arguments: Below.allCases)
  func pages(below: Below) async throws {
    let (store, remote, _, _) = try bench(below)
    let sorted = store.filter(where: \.rank < 3).sorted(by: \.text)
    let page = try await sorted.limit(6).result()
    let second = try await sorted.after(page[5]).limit(6).result()
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await sorted.limit(6).result() == page)
    #expect(try await sorted.limit(4).result() == Array(page.prefix(4)))
    #expect(try await sorted.offset(2).limit(4).result() == Array(page[2...]))
    #expect(try await sorted.after(page[5]).limit(6).result() == second)
    #expect(try await sorted.after(page[5]).limit(5).result() == Array(second.prefix(5)))
    await #expect(throws: PersistenceError.self) { try await sorted.limit(7).result() }
    await #expect(throws: PersistenceError.self) { try await sorted.offset(1).limit(6).result() }
    await #expect(throws: PersistenceError.self) { try await sorted.result() }
    await #expect(throws: PersistenceError.self) { try await sorted.after(second[5]).limit(1).result() }
    await #expect(throws: PersistenceError.self) {
      try await store.filter(where: \.rank < 3).sorted(by: \.text, inOrder: .descending).limit(1).result()
    }
  }

  @Test(
    "what is missing from the remote store's answer is gone below, and nothing else is",
    arguments: Below.allCases)
  func deletes(below: Below) async throws {
    let (store, remote, layer, _) = try bench(below)
    _ = try await store.filter().result()
    for id in [3, 6, 12] { try await remote.delete(Note(id)) }
    try await remote.save(Note(7, "moved", rank: 9))
    // The part with rank 1 lacks 6, which was deleted, and 7, which is of another part now.
    _ = try await store.filter(where: \.rank == 1).result()
    var held = try await layer.execute(everyNote).map(\.id)
    #expect(!held.contains(6) && held.contains(3) && held.contains(12))
    // The first page of four by key is 0, 1, 2, 4.
    _ = try await store.filter().limit(4).result()
    held = try await layer.execute(everyNote).map(\.id)
    #expect(!held.contains(3) && held.contains(12))
    #expect(try await store.find(12) == nil)
    held = try await layer.execute(everyNote).map(\.id)
    #expect(!held.contains(12))
    // And that it is not there is known from now on.
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await store.find(12) == nil)
    remote.answerOtherwise(.genuine)
    #expect(try await store.filter().result() == (try await layer.execute(everyNote)))
  }

  @Test("unique values that change hands are refreshed")
  func uniqueSwap() async throws {
    let remote = try RepositoryDataSource<Badge>.inMemory([Badge(1, "a"), Badge(2, "b")])
    let local = try RepositoryDataSource<Badge>.inMemory()
    let store = try LayeredDataSource(local: local, remote: remote)
    _ = try await store.filter().result()
    try await remote.apply(
      ChangeBatch([.delete(Badge(1, "")), .save(Badge(2, "a")), .insert(Badge(1, "b"))]))
    let answer = try await store.answer(to: FetchOptions())
    #expect(answer.failures.isEmpty)
    #expect(try await local.execute(FetchOptions()) == [Badge(1, "b"), Badge(2, "a")])
  }

  @Test("writes through the layers keep what is known", arguments: Below.allCases)
  func writes(below: Below) async throws {
    let (store, remote, _, clock) = try bench(below)
    _ = try await store.filter(where: \.rank == 1).result()
    try await store.insert(Note(50, "new", rank: 1))
    try await store.delete(Note(5))
    try await store.update(Note(6, "away", rank: 2))
    try await store.apply(ChangeBatch([.save(Note(7, "batch", rank: 1)), .delete(Note(8))]))
    clock.advance(by: .seconds(5))
    remote.answerOtherwise(.failure(LayerBench.gone))
    let answer = try await store.answer(to: store.filter(where: \.rank == 1).options)
    #expect(answer.isComplete && answer.age == .seconds(5))
    #expect(answer.value.map(\.id) == [7, 9, 50])
    #expect(try await store.find(6)?.text == "away")
    #expect(try await store.find(8) == nil)
  }

  @Test("a batch that is sent again after a newer write does not undo it below", arguments: Below.allCases)
  func resentBatch(below: Below) async throws {
    let (store, remote, _, _) = try bench(below)
    let batch = ChangeBatch([ObjectChange.save(Note(1, "batch"))])
    #expect(try await store.apply(batch))
    try await store.save(Note(1, "newer"))
    #expect(try await !store.apply(batch))
    #expect(try await store.answer(for: 1, strategy: .fastestAvailable).value?.text == "newer")
    // Whatever is below is the newer one, or in doubt.
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await store.find(1)?.text == "newer")
  }

  @Test("a conflict shows that what is held is old: it is asked for anew", arguments: Below.allCases)
  func conflicts(below: Below) async throws {
    let (store, remote, _, _) = try bench(below)
    _ = try await store.filter().result()
    try await remote.save(Note(1, "theirs"))
    let error = await #expect(throws: PersistenceError.self) {
      try await store.update(Note(1, "mine"), replacing: notes[1])
    }
    #expect(error?.code == .conflict)
    #expect(try await store.answer(for: 1, strategy: .fastestAvailable).value == Note(1, "theirs"))
  }

  @Test("a write during a read is not undone by the read's older answer", arguments: Below.allCases)
  func races(below: Below) async throws {
    let (store, remote, layer, clock) = try bench(below)
    _ = try await store.filter().result()
    // The answer is made, and takes a second to arrive.
    let slow = try LayeredDataSource(
      local: layer, remote: LateAnswers(remote, clock, .seconds(1)), options: LayerBench.options(clock))
    let task = Task { try await slow.filter().result() }
    await clock.sleepers(2)
    try await slow.save(Note(1, "newer"))
    try await slow.delete(Note(2))
    try await slow.insert(Note(60))
    clock.advance(by: .seconds(1))
    #expect(try await task.value.count == 20)
    let held = try await layer.execute(everyNote)
    #expect(
      held.count == 20 && held[1].text == "newer" && !held.contains { $0.id == 2 } && held.last?.id == 60)
  }

  @Test(
    "what is known of a repository survives a restart, and a kill in the middle of a write brings it into doubt"
  )
  func restart() async throws {
    let context = try #require(ContextUnderTest.ours.first { $0.name == "sqlite" })
    let place = try context.makeStore()
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    func open() throws -> (Repository, LayeredDataSource<Note>) {
      let repository = try place.open()
      return (
        repository,
        try LayeredDataSource(
          local: repository.dataSource(of: Note.self), remote: remote, options: LayerBench.options(clock))
      )
    }
    var (repository, store) = try open()
    _ = try await store.filter().result()
    try repository.close()
    clock.advance(by: .seconds(7))
    (repository, store) = try open()
    remote.answerOtherwise(.failure(LayerBench.gone))
    let answer = try await store.answer(to: everyNote)
    #expect(answer.value == notes && answer.source == .local && answer.age == .seconds(7))

    // As though it had been killed: the remote store did it, and the call never came back.
    remote.answerOtherwise(.genuine)
    remote.script(.hangs, for: .save)
    let before = remote.calls.count
    let cut = store
    let task = Task { try await cut.save(Note(1, "killed")) }
    await remote.calls { $0.count > before }
    try repository.close()
    _ = try await remote.wrappedSave(Note(1, "killed"))
    (repository, store) = try open()
    remote.answerOtherwise(.failure(LayerBench.gone))
    await #expect(throws: PersistenceError.self) { try await store.find(1) }
    await #expect(throws: PersistenceError.self) { try await store.execute(everyNote) }
    #expect(try await store.find(2) == notes[2])
    remote.answerOtherwise(.genuine)
    #expect(try await store.execute(everyNote)[1].text == "killed")
    remote.answerOtherwise(.failure(LayerBench.gone))
    #expect(try await store.find(1)?.text == "killed")
    task.cancel()
    _ = await task.result
    try repository.close()
  }
}

extension ScriptedDataSource {
  /// Writes past the script.
  fileprivate func wrappedSave(_ object: Object) async throws -> Object {
    script(.genuine, for: .save)
    return try await save(object)
  }
}

/// A record with a value that no other one may have.
private struct Badge: PersistentRecord, Equatable {
  var id: Int
  var color: String

  static let schema = RecordSchema<Badge>(
    "Badge", fields: [.field("id", \.id), .field("color", \.color)], key: [\.id],
    indexes: [RecordIndex(\.color, isUnique: true)])
  var primaryKey: Int { id }

  init(_ id: Int, _ color: String) { (self.id, self.color) = (id, color) }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    color = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(color, at: 1)
  }
}
