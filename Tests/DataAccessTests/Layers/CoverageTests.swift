@testable import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Coverage of layers")
struct CoverageTests {
  /// The kinds of layers below the remote one.
  enum ReplicaKind: String, CaseIterable, Sendable {
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

  private func bed(_ below: ReplicaKind) throws -> (
    source: LayeredDataSource<Note>, remote: ScriptedDataSource<Note>, layer: any DataSource<Note>,
    clock: TestClock
  ) {
    let clock = TestClock()
    let remote = try ScriptedDataSource(notes, clock: clock)
    let layer = try below.layer(clock)
    let source = try LayeredDataSource(local: layer, remote: remote, options: LayerTestBed.options(clock))
    return (source, remote, layer, clock)
  }

  @Test("a complete answer serves every order and page of the same objects", arguments: ReplicaKind.allCases)
  func whole(below: ReplicaKind) async throws {
    let (source, remote, _, _) = try bed(below)
    let rank1 = source.filter(where: \.rank == 1)
    _ = try await rank1.result()
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await rank1.sorted(by: \.text).limit(2).result().map(\.id) == [8, 5])
    #expect(try await rank1.offset(3).result().map(\.id) == [8, 9])
    #expect(try await rank1.filter(where: \.text == "n1").result().map(\.id) == [5, 9])
    #expect(try await rank1.count() == 5)
    #expect(try await rank1.after(Note(7, "", rank: 1)).result().map(\.id) == [8, 9])
    for query in [
      source.filter(), source.filter(where: \.rank <= 1), source.filter(where: \.rank == 1 || \.rank == 2),
    ] {
      await #expect(throws: PersistenceError.self) { try await query.result() }
    }
    #expect(try await source.filter(where: PersistentPredicate.none).result().isEmpty)
  }

  @Test("V3 coverage of one form of é does not cover the other", arguments: ReplicaKind.allCases)
  func canonicalEquivalents(below: ReplicaKind) async throws {
    let clock = TestClock()
    let remote = try ScriptedDataSource([Note(1, "x\u{E9}"), Note(2, "xe\u{301}")], clock: clock)
    let source = try LayeredDataSource(
      local: try below.layer(clock), remote: remote, options: LayerTestBed.options(clock))
    #expect(try await source.filter(where: .contains(\.text, "\u{E9}")).result().map(\.id) == [1])
    #expect(try await source.filter(where: .contains(\.text, "e\u{301}")).result().map(\.id) == [2])
    #expect(try await source.filter(where: .contains(\.text, "\u{E9}") && \.id > 0).result().map(\.id) == [1])
    #expect(try await source.filter(where: .hasPrefix(\.text, "xe\u{301}")).result().map(\.id) == [2])
  }

  @Test("a page covers the same page and smaller ones, but no larger one", arguments: ReplicaKind.allCases)
  func pages(below: ReplicaKind) async throws {
    let (source, remote, _, _) = try bed(below)
    let sorted = source.filter(where: \.rank < 3).sorted(by: \.text)
    let page = try await sorted.limit(6).result()
    let second = try await sorted.after(page[5]).limit(6).result()
    remote.answerOtherwise(.failure(LayerTestBed.gone))
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
      try await source.filter(where: \.rank < 3).sorted(by: \.text, inOrder: .descending).limit(1).result()
    }
  }

  @Test(
    "objects that are absent from the remote layer's answer are deleted below, and no others",
    arguments: ReplicaKind.allCases)
  func deletes(below: ReplicaKind) async throws {
    let (source, remote, layer, _) = try bed(below)
    _ = try await source.filter().result()
    for id in [3, 6, 12] { try await remote.delete(Note(id)) }
    try await remote.save(Note(7, "moved", rank: 9))
    // The region of rank 1 lacks 6, which was deleted, and 7, which has moved to another region.
    _ = try await source.filter(where: \.rank == 1).result()
    var held = try await layer.execute(everyNote).map(\.id)
    #expect(!held.contains(6) && held.contains(3) && held.contains(12))
    // The first page of four by key is 0, 1, 2, 4.
    _ = try await source.filter().limit(4).result()
    held = try await layer.execute(everyNote).map(\.id)
    #expect(!held.contains(3) && held.contains(12))
    #expect(try await source.find(12) == nil)
    held = try await layer.execute(everyNote).map(\.id)
    #expect(!held.contains(12))
    // From now on, its absence is known.
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.find(12) == nil)
    remote.answerOtherwise(.genuine)
    #expect(try await source.filter().result() == (try await layer.execute(everyNote)))
  }

  @Test("a refresh moves unique values between objects")
  func uniqueSwap() async throws {
    let remote = try RepositoryDataSource<Badge>.inMemory([Badge(1, "a"), Badge(2, "b")])
    let local = try RepositoryDataSource<Badge>.inMemory()
    let source = try LayeredDataSource(local: local, remote: remote)
    _ = try await source.filter().result()
    try await remote.apply(
      ChangeBatch([.delete(Badge(1, "")), .save(Badge(2, "a")), .insert(Badge(1, "b"))]))
    let answer = try await source.answer(to: FetchOptions())
    #expect(answer.failures.isEmpty)
    #expect(try await local.execute(FetchOptions()) == [Badge(1, "b"), Badge(2, "a")])
  }

  @Test("writes through the layers preserve the coverage", arguments: ReplicaKind.allCases)
  func writes(below: ReplicaKind) async throws {
    let (source, remote, _, clock) = try bed(below)
    _ = try await source.filter(where: \.rank == 1).result()
    try await source.insert(Note(50, "new", rank: 1))
    try await source.delete(Note(5))
    try await source.update(Note(6, "away", rank: 2))
    try await source.apply(ChangeBatch([.save(Note(7, "batch", rank: 1)), .delete(Note(8))]))
    clock.advance(by: .seconds(5))
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let answer = try await source.answer(to: source.filter(where: \.rank == 1).options)
    #expect(answer.isComplete && answer.age == .seconds(5))
    #expect(answer.value.map(\.id) == [7, 9, 50])
    #expect(try await source.find(6)?.text == "away")
    #expect(try await source.find(8) == nil)
  }

  @Test("a repeated batch does not overwrite a newer write below", arguments: ReplicaKind.allCases)
  func resentBatch(below: ReplicaKind) async throws {
    let (source, remote, _, _) = try bed(below)
    let batch = ChangeBatch([ObjectChange.save(Note(1, "batch"))])
    #expect(try await source.apply(batch))
    try await source.save(Note(1, "newer"))
    #expect(try await !source.apply(batch))
    #expect(try await source.answer(for: 1, strategy: .fastestAvailable).value?.text == "newer")
    // The replica holds the newer object, or a stale one.
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.find(1)?.text == "newer")
  }

  @Test("a conflict makes the replica stale, so the next read refreshes it", arguments: ReplicaKind.allCases)
  func conflicts(below: ReplicaKind) async throws {
    let (source, remote, _, _) = try bed(below)
    _ = try await source.filter().result()
    try await remote.save(Note(1, "theirs"))
    let error = await #expect(throws: PersistenceError.self) {
      try await source.update(Note(1, "mine"), replacing: notes[1])
    }
    #expect(error?.code == .conflict)
    #expect(try await source.answer(for: 1, strategy: .fastestAvailable).value == Note(1, "theirs"))
  }

  @Test("the older answer of a concurrent read does not overwrite a write", arguments: ReplicaKind.allCases)
  func races(below: ReplicaKind) async throws {
    let (source, remote, layer, clock) = try bed(below)
    _ = try await source.filter().result()
    // The answer exists, and takes a second to arrive.
    let slow = try LayeredDataSource(
      local: layer, remote: LateAnswers(remote, clock, .seconds(1)), options: LayerTestBed.options(clock))
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
    "a repository's coverage survives a restart, and a kill during a write makes the key stale"
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
          local: repository.dataSource(of: Note.self), remote: remote, options: LayerTestBed.options(clock))
      )
    }
    var (repository, source) = try open()
    _ = try await source.filter().result()
    try repository.close()
    clock.advance(by: .seconds(7))
    (repository, source) = try open()
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let answer = try await source.answer(to: everyNote)
    #expect(answer.value == notes && answer.source == .local && answer.age == .seconds(7))

    // Like a kill: the remote layer made the write, and the call never returned.
    remote.answerOtherwise(.genuine)
    remote.script(.hangs, for: .save)
    let before = remote.calls.count
    let cut = source
    let task = Task { try await cut.save(Note(1, "killed")) }
    await remote.calls { $0.count > before }
    try repository.close()
    _ = try await remote.wrappedSave(Note(1, "killed"))
    (repository, source) = try open()
    for record in Array(try repository.fetch(StaleKeyRecord.self)) {
      // That of a process that has ended.
      let part = record.part.replacing("!\(LiveWriters.process)", with: "!\(Int32.max)")
      #expect(part != record.part && !record.isSettled)
      try repository.delete(StaleKeyRecord.self, id: record.primaryKey)
      try repository.insert(StaleKeyRecord(model: record.model, part: part, isSettled: false))
    }
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await source.find(1) }
    await #expect(throws: PersistenceError.self) { try await source.execute(everyNote) }
    #expect(try await source.find(2) == notes[2])
    remote.answerOtherwise(.genuine)
    #expect(try await source.execute(everyNote)[1].text == "killed")
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await source.find(1)?.text == "killed")
    task.cancel()
    _ = await task.result
    try repository.close()
  }
}

extension ScriptedDataSource {
  /// Writes without the script.
  fileprivate func wrappedSave(_ object: Object) async throws -> Object {
    script(.genuine, for: .save)
    return try await save(object)
  }
}

/// A record with a unique value.
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
