import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing
import PersistenceDriverSupport

@Suite("Outbox")
struct OutboxTests {
  /// A layered data source over a repository and a scripted remote data source, with a clock.
  struct TestBed {
    let clock = TestClock()
    let repository: Repository
    let remote: ScriptedDataSource<Note>
    let cache = CacheDataSource<Note>()
    let source: LayeredDataSource<Note>
    let outbox: Outbox<Note>

    init(
      _ objects: [Note] = [], in repository: Repository = Repository(MemoryContext()),
      remote: ScriptedDataSource<Note>? = nil, change: (inout LayerOptions<Note>) -> Void = { _ in }
    ) throws {
      self.repository = repository
      self.remote = try remote ?? ScriptedDataSource(objects, clock: clock)
      var options = LayerTestBed.options(clock)
      options.writes = .localFirst
      options.remote.timeout = nil
      options.local.timeout = nil
      change(&options)
      source = try LayeredDataSource(
        cache: cache, local: repository.dataSource(of: Note.self), remote: self.remote, options: options)
      outbox = try #require(source.outbox)
    }

    /// Waits until the sender has failed once; it then sends nothing before the clock advances.
    func senderWaits() async { await clock.sleepers(1) }
  }

  @Test("a write is local at once, and reaches the remote layer later, in order")
  func order() async throws {
    let bed = try TestBed()
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.insert(Note(1, "a"))
    try await bed.source.update(Note(1, "b"), replacing: Note(1, "a"))
    try await bed.source.insert(Note(2))
    #expect(try await bed.source.delete(Note(2)) == Note(2))
    try await bed.source.apply(ChangeBatch([.insert(Note(3)), .save(Note(1, "c"))]))
    #expect(try await bed.outbox.count() == 5)
    #expect(try bed.repository.find(Note.self, id: 1) == Note(1, "c"))
    let entries = try await bed.outbox.waiting()
    #expect(entries.map(\.number) == entries.map(\.number).sorted() && entries.allSatisfy { !$0.isSetAside })
    bed.remote.answerOtherwise(.genuine)
    try await bed.outbox.send()
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.remote.execute(everyNote) == [Note(1, "c"), Note(3)])
  }

  @Test("V3 the outbox keeps two fields apart whose names differ only in normalization")
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
    let source = try LayeredDataSource(
      cache: nil, local: repository.dataSource(of: Twins.self), remote: remote, options: options)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await source.insert(Twins(id: 1, composed: "a", decomposed: "b"))
    remote.answerOtherwise(.genuine)
    try await #require(source.outbox).send()
    #expect(
      try await remote.execute(FetchOptions<Twins>()) == [Twins(id: 1, composed: "a", decomposed: "b")])
  }

  @Test("the sender retries on its own, with delays that grow up to a limit")
  func backoff() async throws {
    let bed = try TestBed()
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.save(Note(1))
    for (failures, delay) in [1, 2, 4, 8, 8].enumerated() {
      await bed.clock.sleepers(1)
      #expect(bed.remote.calls.count == failures + 1)
      bed.clock.advance(by: .seconds(delay) - .milliseconds(1))
      #expect(bed.clock.sleeperCount == 1)
      if failures == 4 { bed.remote.answerOtherwise(.genuine) }
      bed.clock.advance(by: .milliseconds(1))
    }
    await bed.remote.calls { $0.last?.outcome == .answered }
    #expect(bed.remote.calls.count == 6)
    #expect(try await bed.remote.execute(everyNote) == [Note(1)])
  }

  @Test("an entry with a lost answer is sent again, and applied once")
  func lost() async throws {
    let bed = try TestBed()
    bed.remote.script(.lost(LayerTestBed.gone), .lost(LayerTestBed.gone), for: .apply)
    try await bed.source.insert(Note(1))
    try await bed.source.insert(Note(2))
    for _ in 0..<2 {
      await bed.clock.sleepers(1)
      bed.clock.advance(by: .seconds(8))
    }
    await bed.remote.calls { $0.count { $0.outcome == .answered } == 2 }
    #expect(bed.remote.calls.count { $0.outcome == .answered } == 2)
    try await bed.outbox.send()
    #expect(try await bed.remote.execute(everyNote) == [Note(1), Note(2)])
    #expect(try await bed.outbox.setAside().isEmpty)
  }

  @Test("waiting entries survive a restart and are sent then", arguments: ContextUnderTest.ours)
  func restart(context: ContextUnderTest) async throws {
    guard try context.capabilities().isDurable else { return }
    let place = try context.makeStore()
    let remote = try ScriptedDataSource<Note>()
    do {
      let bed = try TestBed(in: place.open(), remote: remote)
      remote.answerOtherwise(.failure(LayerTestBed.gone))
      for id in 0..<5 { try await bed.source.insert(Note(id)) }
      await #expect(throws: PersistenceError.self) { try await bed.outbox.send() }
      try bed.repository.close()
    }
    remote.answerOtherwise(.genuine)
    let bed = try TestBed(in: place.open(), remote: remote)
    try await bed.outbox.send()
    #expect(try await remote.execute(everyNote).map(\.id) == Array(0..<5))
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.source.execute(everyNote).count == 5)
    try bed.repository.close()
  }

  @Test("local writes are visible before they are sent, and a refresh does not overwrite them")
  func ownWrites() async throws {
    let bed = try TestBed([Note(1, "theirs"), Note(2)])
    #expect(try await bed.source.execute(everyNote).count == 2)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.save(Note(1, "mine"))
    try await bed.source.insert(Note(3))
    try await bed.source.delete(Note(2))
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.value == [Note(1, "mine"), Note(3)] && answer.source == .local && answer.isComplete)
    #expect(try await bed.source.find(1)?.text == "mine")
    await bed.senderWaits()
    // The remote layer is readable but not yet writable: its answer would lack the waiting writes.
    bed.remote.answerOtherwise(.genuine)
    for _ in 0..<3 { bed.remote.script(.failure(LayerTestBed.gone), for: .apply) }
    #expect(try await bed.source.answer(to: everyNote).source == .local)
    #expect(try await bed.source.execute(everyNote) == [Note(1, "mine"), Note(3)])
    try? await bed.outbox.send()
    try await bed.outbox.send()
    let last = try await bed.source.answer(to: everyNote)
    #expect(last.isUpToDate && last.value == [Note(1, "mine"), Note(3)])
  }

  @Test("a rejected entry is set aside with its error, and the others continue")
  func refused() async throws {
    let bed = try TestBed()
    bed.remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await bed.source.insert(Note(1))
    try await bed.outbox.send()
    try await bed.source.insert(Note(2))
    try await bed.outbox.send()
    let aside = try await bed.outbox.setAside()
    #expect(
      aside.count == 1 && aside[0].error?.code == .uniqueViolation && aside[0].error?.message == "taken")
    #expect(aside[0].changes?.map(\.object) == [Note(1)])
    #expect(try await bed.remote.execute(everyNote) == [Note(2)])
    // The local object is stale: a read needs the remote layer, and fails without it.
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    await #expect(throws: PersistenceError.self) { try await bed.source.find(1) }
    bed.remote.answerOtherwise(.genuine)
    #expect(try await bed.source.find(1) == nil)
    #expect(try bed.repository.find(Note.self, id: 1) == nil)

    try await bed.outbox.resend(aside[0], as: [.insert(Note(1, "again"))])
    try await bed.outbox.send()
    #expect(try await bed.remote.find(1) == Note(1, "again"))
    #expect(try await bed.outbox.setAside().isEmpty)
    let gone = await #expect(throws: PersistenceError.self) { try await bed.outbox.discard(aside[0]) }
    #expect(gone?.code == .notFound)
  }

  @Test(
    "an error that is not retryable leads to setting aside after the limit; an unauthorized one waits forever"
  )
  func poison() async throws {
    let bed = try TestBed()
    bed.remote.answerOtherwise(.failure(PersistenceError(.engineFailure, "no idea")))
    try await bed.source.insert(Note(1))
    for _ in 0..<4 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [.engineFailure])
    try await bed.outbox.discard(try #require(try await bed.outbox.setAside().first))
    bed.remote.answerOtherwise(.failure(PersistenceError(.unauthorized, "who?")))
    try await bed.source.insert(Note(2))
    for _ in 0..<9 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.count() == 1)
  }

  @Test(
    "conflicts follow the policy",
    arguments: ["aside", "remote", "local", "merge", "merge to delete", "keep"])
  func conflicts(policy: String) async throws {
    let bed = try TestBed([Note(1, "base"), Note(2, "base")]) { options in
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
    _ = try await bed.source.execute(everyNote)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.update(Note(1, "mine"), replacing: Note(1, "base"))
    try await bed.source.update(Note(2, "mine"), replacing: Note(2, "base"))
    try await bed.source.insert(Note(3, "mine"))
    await bed.senderWaits()
    bed.remote.answerOtherwise(.genuine)
    // Meanwhile, another device changed one object, deleted one and inserted one.
    try await bed.remote.save(Note(1, "theirs"))
    try await bed.remote.delete(Note(2))
    try await bed.remote.insert(Note(3, "theirs"))
    try await bed.outbox.send()
    let aside = try await bed.outbox.setAside()
    let found = try await bed.remote.execute(everyNote).map { "\($0.id) \($0.text)" }
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
      #expect(try bed.repository.fetch(Note.self).map { "\($0.id) \($0.text)" } == found)
    }
    #expect(try await bed.source.execute(everyNote).map { "\($0.id) \($0.text)" } == found)
    #expect(try bed.repository.fetch(Note.self).map { "\($0.id) \($0.text)" } == found)
  }

  @Test("a batch that was applied is neither applied nor sent again")
  func batches() async throws {
    let bed = try TestBed()
    let batch = ChangeBatch<Note>([.insert(Note(1))])
    try await bed.source.apply(batch)
    try await bed.source.apply(batch)
    try await bed.outbox.send()
    try await bed.source.delete(Note(1))
    try await bed.source.apply(batch)
    try await bed.outbox.send()
    #expect(try await bed.remote.execute(everyNote).isEmpty)
    #expect(try await bed.source.execute(everyNote).isEmpty)
  }

  @Test("both sides are equal after many tasks write while the remote layer comes and goes")
  func soak() async throws {
    let bed = try TestBed { $0.stuckEntries = .setAside(afterFailures: 1000) }
    let down = Task {
      for round in 0..<20 {
        bed.remote.answerOtherwise(round % 2 == 0 ? .failure(LayerTestBed.gone) : .lost(LayerTestBed.gone))
        try await Task.sleep(for: .milliseconds(1))
        bed.remote.answerOtherwise(.genuine)
        bed.clock.advance(by: .seconds(10))
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    try await withThrowingTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<30 {
            try await bed.source.insert(Note(1000 + task * 100 + number))
            try await bed.source.save(Note(number, "t\(task)"))
            if number % 5 == 0 { try await bed.source.delete(Note(1000 + task * 100 + number)) }
          }
        }
      }
      try await group.waitForAll()
    }
    _ = await down.result
    bed.remote.answerOtherwise(.genuine)
    try await bed.outbox.send()
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.remote.execute(everyNote) == Array(try bed.repository.fetch(Note.self)))
    _ = try await bed.source.execute(everyNote)  // refreshes objects of entries with lost answers
    #expect(try await bed.cache.execute(everyNote) == Array(try bed.repository.fetch(Note.self)))
  }
}
