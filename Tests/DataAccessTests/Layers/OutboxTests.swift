import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Writes that wait for the remote store")
struct OutboxTests {
  /// A store over a repository and a scripted remote store, on a clock.
  struct Bench {
    let clock = TestClock()
    let repository: Repository
    let remote: ScriptedDataSource<Note>
    let cache = CacheDataSource<Note>()
    let store: LayeredDataSource<Note>
    let outbox: Outbox<Note>

    init(
      _ objects: [Note] = [], in repository: Repository = Repository(MemoryContext()),
      remote: ScriptedDataSource<Note>? = nil, change: (inout LayerOptions<Note>) -> Void = { _ in }
    ) throws {
      self.repository = repository
      self.remote = try remote ?? ScriptedDataSource(objects, clock: clock)
      var options = LayerBench.options(clock)
      options.writes = .localFirst
      options.remote.timeout = nil
      options.local.timeout = nil
      change(&options)
      store = try LayeredDataSource(
        cache: cache, local: repository.dataSource(of: Note.self), remote: self.remote, options: options)
      outbox = try #require(store.outbox)
    }

    /// Returns when the sender has found the remote store gone, and waits: it sends nothing of itself before the clock
    /// goes on.
    func senderWaits() async { await clock.sleepers(1) }
  }

  @Test("a write is done at once here, and later there, in order")
  func order() async throws {
    let bench = try Bench()
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    try await bench.store.insert(Note(1, "a"))
    try await bench.store.update(Note(1, "b"), replacing: Note(1, "a"))
    try await bench.store.insert(Note(2))
    #expect(try await bench.store.delete(Note(2)) == Note(2))
    try await bench.store.apply(ChangeBatch([.insert(Note(3)), .save(Note(1, "c"))]))
    #expect(try await bench.outbox.count() == 5)
    #expect(try bench.repository.find(Note.self, id: 1) == Note(1, "c"))
    let entries = try await bench.outbox.waiting()
    #expect(entries.map(\.number) == entries.map(\.number).sorted() && entries.allSatisfy { $0.error == nil })
    bench.remote.answerOtherwise(.genuine)
    try await bench.outbox.send()
    #expect(try await bench.outbox.count() == 0)
    #expect(try await bench.remote.execute(everyNote) == [Note(1, "c"), Note(3)])
  }

  @Test("V3 two fields whose names differ only in their normal form are kept apart while they wait")
  func normalForms() async throws {
    let repository = Repository(MemoryContext())
    let clock = TestClock()
    let remote = try ScriptedDataSource<Twins>([], clock: clock)
    var options = LayerOptions<Twins>()
    options.writes = .localFirst
    options.clock = clock
    options.remote.timeout = nil
    options.local.timeout = nil
    options.outbox = RetryPolicy(attempts: 3, firstDelay: .seconds(1), longestDelay: .seconds(8), jitter: 0)
    let store = try LayeredDataSource(
      cache: nil, local: repository.dataSource(of: Twins.self), remote: remote, options: options)
    remote.answerOtherwise(.failure(LayerBench.gone))
    try await store.insert(Twins(id: 1, composed: "a", decomposed: "b"))
    remote.answerOtherwise(.genuine)
    try await #require(store.outbox).send()
    #expect(
      try await remote.execute(FetchOptions<Twins>()) == [Twins(id: 1, composed: "a", decomposed: "b")])
  }

  @Test("it is tried again by itself, after times that grow to a limit")
  func backoff() async throws {
    let bench = try Bench()
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    try await bench.store.save(Note(1))
    for (failures, delay) in [1, 2, 4, 8, 8].enumerated() {
      await bench.clock.sleepers(1)
      #expect(bench.remote.calls.count == failures + 1)
      bench.clock.advance(by: .seconds(delay) - .milliseconds(1))
      #expect(bench.clock.sleeperCount == 1)
      if failures == 4 { bench.remote.answerOtherwise(.genuine) }
      bench.clock.advance(by: .milliseconds(1))
    }
    await bench.remote.calls { $0.last?.outcome == .answered }
    #expect(bench.remote.calls.count == 6)
    #expect(try await bench.remote.execute(everyNote) == [Note(1)])
  }

  @Test("an answer that is lost is asked for again, and nothing is done twice")
  func lost() async throws {
    let bench = try Bench()
    bench.remote.script(.lost(LayerBench.gone), .lost(LayerBench.gone), for: .apply)
    try await bench.store.insert(Note(1))
    try await bench.store.insert(Note(2))
    for _ in 0..<2 {
      await bench.clock.sleepers(1)
      bench.clock.advance(by: .seconds(8))
    }
    await bench.remote.calls { $0.count { $0.outcome == .answered } == 2 }
    #expect(bench.remote.calls.map(\.outcome).filter { $0 == .answered }.count == 2)
    try await bench.outbox.send()
    #expect(try await bench.remote.execute(everyNote) == [Note(1), Note(2)])
    #expect(try await bench.outbox.setAside().isEmpty)
  }

  @Test("what waits survives a restart and is sent then", arguments: ContextUnderTest.ours)
  func restart(context: ContextUnderTest) async throws {
    guard try context.capabilities().isDurable else { return }
    let place = try context.makeStore()
    let remote = try ScriptedDataSource<Note>()
    do {
      let bench = try Bench(in: place.open(), remote: remote)
      remote.answerOtherwise(.failure(LayerBench.gone))
      for id in 0..<5 { try await bench.store.insert(Note(id)) }
      await #expect(throws: PersistenceError.self) { try await bench.outbox.send() }
      try bench.repository.close()
    }
    remote.answerOtherwise(.genuine)
    let bench = try Bench(in: place.open(), remote: remote)
    try await bench.outbox.send()
    #expect(try await remote.execute(everyNote).map(\.id) == Array(0..<5))
    #expect(try await bench.outbox.count() == 0)
    #expect(try await bench.store.execute(everyNote).count == 5)
    try bench.repository.close()
  }

  @Test("own writes are seen before the remote store has them, and a refresh does not undo them")
  func ownWrites() async throws {
    let bench = try Bench([Note(1, "theirs"), Note(2)])
    #expect(try await bench.store.execute(everyNote).count == 2)
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    try await bench.store.save(Note(1, "mine"))
    try await bench.store.insert(Note(3))
    try await bench.store.delete(Note(2))
    let answer = try await bench.store.answer(to: everyNote)
    #expect(answer.value == [Note(1, "mine"), Note(3)] && answer.source == .local && answer.isComplete)
    #expect(try await bench.store.find(1)?.text == "mine")
    await bench.senderWaits()
    // The remote store can be read again, but not yet written: its answer would lack what waits.
    bench.remote.answerOtherwise(.genuine)
    for _ in 0..<3 { bench.remote.script(.failure(LayerBench.gone), for: .apply) }
    #expect(try await bench.store.answer(to: everyNote).source == .local)
    #expect(try await bench.store.execute(everyNote) == [Note(1, "mine"), Note(3)])
    try? await bench.outbox.send()
    try await bench.outbox.send()
    let last = try await bench.store.answer(to: everyNote)
    #expect(last.isUpToDate && last.value == [Note(1, "mine"), Note(3)])
  }

  @Test("what is refused for good is set aside with its error, and the rest goes on")
  func refused() async throws {
    let bench = try Bench()
    bench.remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await bench.store.insert(Note(1))
    try await bench.outbox.send()
    try await bench.store.insert(Note(2))
    try await bench.outbox.send()
    let aside = try await bench.outbox.setAside()
    #expect(
      aside.count == 1 && aside[0].error?.code == .uniqueViolation && aside[0].error?.message == "taken")
    #expect(aside[0].changes?.map(\.object) == [Note(1)])
    #expect(try await bench.remote.execute(everyNote) == [Note(2)])
    // The object here is in doubt: the remote store is asked, and where it cannot be, nothing is said.
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    await #expect(throws: PersistenceError.self) { try await bench.store.find(1) }
    bench.remote.answerOtherwise(.genuine)
    #expect(try await bench.store.find(1) == nil)
    #expect(try bench.repository.find(Note.self, id: 1) == nil)

    try await bench.outbox.resend(aside[0], as: [.insert(Note(1, "again"))])
    try await bench.outbox.send()
    #expect(try await bench.remote.find(1) == Note(1, "again"))
    #expect(try await bench.outbox.setAside().isEmpty)
    let gone = await #expect(throws: PersistenceError.self) { try await bench.outbox.discard(aside[0]) }
    #expect(gone?.code == .notFound)
  }

  @Test(
    "an error that is not known to pass is tried so often, and then set aside; a refused token waits for ever"
  )
  func poison() async throws {
    let bench = try Bench()
    bench.remote.answerOtherwise(.failure(PersistenceError(.engineFailure, "no idea")))
    try await bench.store.insert(Note(1))
    for _ in 0..<4 { try? await bench.outbox.send() }
    #expect(try await bench.outbox.setAside().map(\.error?.code) == [.engineFailure])
    try await bench.outbox.discard(try #require(try await bench.outbox.setAside().first))
    bench.remote.answerOtherwise(.failure(PersistenceError(.unauthorized, "who?")))
    try await bench.store.insert(Note(2))
    for _ in 0..<9 { try? await bench.outbox.send() }
    #expect(try await bench.outbox.count() == 1)
  }

  @Test(
    "conflicts, as the policy says",
    arguments: ["aside", "remote", "local", "merge", "merge to delete", "keep"])
  func conflicts(policy: String) async throws {
    let bench = try Bench([Note(1, "base"), Note(2, "base")]) { options in
      options.conflicts =
        switch policy {
        case "remote": .remoteWins
        case "local": .localWins
        case "merge":
          .merge { .save(Note($0.change.object.id, "\($0.remote?.text ?? "-")+\($0.change.object.text)")) }
        case "merge to delete": .merge { _ in .delete }
        case "keep": .merge { _ in .keepRemote }
        default: .setAside
        }
    }
    _ = try await bench.store.execute(everyNote)
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    try await bench.store.update(Note(1, "mine"), replacing: Note(1, "base"))
    try await bench.store.update(Note(2, "mine"), replacing: Note(2, "base"))
    try await bench.store.insert(Note(3, "mine"))
    await bench.senderWaits()
    bench.remote.answerOtherwise(.genuine)
    // Meanwhile, elsewhere: one was changed, one deleted, one inserted.
    try await bench.remote.save(Note(1, "theirs"))
    try await bench.remote.delete(Note(2))
    try await bench.remote.insert(Note(3, "theirs"))
    try await bench.outbox.send()
    let aside = try await bench.outbox.setAside()
    let found = try await bench.remote.execute(everyNote).map { "\($0.id) \($0.text)" }
    switch policy {
    case "local":
      #expect(found == ["1 mine", "2 mine", "3 mine"] && aside.isEmpty)
    case "merge":
      #expect(found == ["1 theirs+mine", "2 -+mine", "3 theirs+mine"] && aside.isEmpty)
    case "merge to delete":
      #expect(found.isEmpty && aside.isEmpty)
    case "keep":
      #expect(found == ["1 theirs", "3 theirs"] && aside.isEmpty)
    default:
      #expect(found == ["1 theirs", "3 theirs"])
      #expect(aside.map(\.error?.code) == [.conflict, .notFound, .duplicateKey])
    }
    if policy != "aside" {
      #expect(try bench.repository.fetch(Note.self).map { "\($0.id) \($0.text)" } == found)
    }
    #expect(try await bench.store.execute(everyNote).map { "\($0.id) \($0.text)" } == found)
    #expect(try bench.repository.fetch(Note.self).map { "\($0.id) \($0.text)" } == found)
  }

  @Test("a batch that was applied is not made, nor sent, again")
  func batches() async throws {
    let bench = try Bench()
    let batch = ChangeBatch<Note>([.insert(Note(1))])
    try await bench.store.apply(batch)
    try await bench.store.apply(batch)
    try await bench.outbox.send()
    try await bench.store.delete(Note(1))
    try await bench.store.apply(batch)
    try await bench.outbox.send()
    #expect(try await bench.remote.execute(everyNote).isEmpty)
    #expect(try await bench.store.execute(everyNote).isEmpty)
  }

  @Test("many tasks write, and the remote store comes and goes: in the end both sides are equal")
  func soak() async throws {
    let bench = try Bench()
    let down = Task {
      for round in 0..<20 {
        bench.remote.answerOtherwise(round % 2 == 0 ? .failure(LayerBench.gone) : .lost(LayerBench.gone))
        try await Task.sleep(for: .milliseconds(1))
        bench.remote.answerOtherwise(.genuine)
        bench.clock.advance(by: .seconds(10))
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    try await withThrowingTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<30 {
            try await bench.store.insert(Note(1000 + task * 100 + number))
            try await bench.store.save(Note(number, "t\(task)"))
            if number % 5 == 0 { try await bench.store.delete(Note(1000 + task * 100 + number)) }
          }
        }
      }
      try await group.waitForAll()
    }
    _ = await down.result
    bench.remote.answerOtherwise(.genuine)
    try await bench.outbox.send()
    #expect(try await bench.outbox.count() == 0)
    #expect(try await bench.remote.execute(everyNote) == Array(try bench.repository.fetch(Note.self)))
    #expect(try await bench.cache.execute(everyNote) == Array(try bench.repository.fetch(Note.self)))
  }
}

/// A record with two fields that Swift's strings take for one.
private struct Twins: PersistentRecord, Equatable {
  var id: Int
  var composed: String
  var decomposed: String

  static let schema = RecordSchema<Twins>(
    "Twins",
    fields: [
      .field("id", \.id), .field("\u{E9}", \.composed), .field("e\u{301}", \.decomposed),
    ], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, composed: String, decomposed: String) {
    (self.id, self.composed, self.decomposed) = (id, composed, decomposed)
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    composed = try row.decode(at: 1)
    decomposed = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(composed, at: 1)
    row.encode(decomposed, at: 2)
  }
}
