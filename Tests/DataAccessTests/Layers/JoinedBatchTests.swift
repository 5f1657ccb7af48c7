import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// Waiting entries that are sent together.
@Suite("Joint batches of the outbox")
struct JoinedBatchTests {
  /// A layered data source over a repository and a recorder, whose sender in the background has failed once.
  struct TestBed {
    let clock = TestClock()
    let repository: Repository
    let remote: BatchRecorder
    let source: LayeredDataSource<Note>
    let outbox: Outbox<Note>

    init(
      in repository: Repository = Repository(MemoryContext()), remote: BatchRecorder,
      change: (inout LayerOptions<Note>) -> Void = { _ in }
    ) throws {
      (self.repository, self.remote) = (repository, remote)
      var options = LayerTestBed.options(clock)
      options.writes = .localFirst
      (options.remote.timeout, options.local.timeout) = (nil, nil)
      // The sender in the background never makes a second attempt.
      options.outbox = RetryPolicy(
        attempts: 3, firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
      change(&options)
      source = try LayeredDataSource(
        local: repository.dataSource(of: Note.self), remote: remote, options: options)
      outbox = try #require(source.outbox)
    }

    static func offline(
      _ objects: [Note] = [], limits: BatchLimits? = BatchLimits(),
      change: (inout LayerOptions<Note>) -> Void = { _ in }
    ) throws -> TestBed {
      try TestBed(
        remote: BatchRecorder(objects, limits: limits) { _, _ in .failure(LayerTestBed.gone) }, change: change
      )
    }

    /// Writes while the remote layer is out of reach.
    func write(_ notes: some Sequence<Note>) async throws {
      for note in notes { try await source.save(note) }
      await clock.sleepers(1)
    }
  }

  private static func notes(_ count: Int) -> [Note] { (0..<count).map { Note($0, "n\($0)") } }

  @Test("300 waiting entries need three requests, and a read after them one more")
  func count() async throws {
    let remote = try ScriptedDataSource<Note>()
    let bed = try OutboxTests.TestBed(remote: remote)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    for note in Self.notes(300) { try await bed.source.insert(note) }
    await bed.senderWaits()
    remote.answerOtherwise(.genuine)
    let before = remote.calls.count
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.isUpToDate && answer.value == Self.notes(300))
    // The first entry is sent alone, the others in batches of up to 256.
    #expect(remote.calls.dropFirst(before).map(\.operation) == [.apply, .apply, .apply, .execute])
  }

  @Test(
    "the limits of the remote layer hold for each request",
    arguments: [BatchLimits(changes: 10), BatchLimits(bytes: 1000)])
  func limits(limits: BatchLimits) async throws {
    let bed = try TestBed.offline(limits: limits)
    try await bed.write(Self.notes(50))
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    let sizes = bed.remote.requests.map(\.batch.changes.count)
    #expect(sizes.allSatisfy { $0 <= 10 } && sizes.count < 20 && sizes.reduce(0, +) == 50)
    #expect(bed.remote.applied.map(\.object) == Self.notes(50))
  }

  @Test("a remote layer without limits gets each entry under its own id")
  func single() async throws {
    let bed = try TestBed.offline(limits: nil)
    try await bed.write(Self.notes(5))
    let ids = try await bed.outbox.waiting().map(\.id)
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    #expect(bed.remote.requests.map(\.batch.id) == ids)
  }

  @Test("a batch of the app keeps its id, and is sent alone")
  func ownID() async throws {
    let bed = try TestBed.offline()
    try await bed.write(Self.notes(2))
    let batch = ChangeBatch<Note>([.save(Note(7)), .save(Note(8))])
    try await bed.source.apply(batch)
    try await bed.source.save(Note(9))
    try await bed.source.save(Note(10))
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    #expect(bed.remote.requests.map { $0.batch.changes.map(\.object.id) } == [[0], [1], [7, 8], [9, 10]])
    #expect(bed.remote.requests[2].batch.id == batch.id)
  }

  @Test(
    "the entry at fault is found and treated alone, and the others arrive once, in order",
    arguments: [PersistenceError.Code.uniqueViolation, .invalidRequest, .valueTooLarge], [1, 2, 57, 99])
  func rejected(code: PersistenceError.Code, number: Int) async throws {
    let bed = try TestBed.offline()
    var notes = Self.notes(100)
    notes[number].text = "bad"
    try await bed.write(notes)
    bed.remote.begin { batch, _ in batch.contains("bad") ? .failure(PersistenceError(code, "no")) : .genuine }
    try await bed.outbox.send()
    #expect(try await bed.outbox.count() == 0)
    let aside = try await bed.outbox.setAside()
    #expect(aside.map(\.error?.code) == [code] && aside.first?.changes?.first?.object == notes[number])
    #expect(bed.remote.applied.map(\.object) == notes.filter { $0.text != "bad" })
    #expect(bed.remote.requests.count < 50)
    // Its local object is stale, and the others are not.
    bed.remote.begin { _, _ in .genuine }
    #expect(try await bed.source.answer(for: 98).value == notes[98])
    #expect(try await bed.source.answer(for: number).value == nil)
  }

  @Test(
    "conflicts of several entries follow the policy, and the others arrive",
    arguments: ["remote", "local", "merge"])
  func conflicts(policy: String) async throws {
    let base = Self.notes(20)
    let bed = try TestBed.offline(base) { options in
      options.conflicts =
        switch policy {
        case "remote": .remoteWins
        case "local": .localWins
        default: .merge { .save(Note($0.change.object.id, "\($0.remote?.text ?? "-")+mine")) }
        }
    }
    _ = try await bed.source.execute(everyNote)
    for note in base { try await bed.source.update(Note(note.id, "mine"), replacing: note) }
    await bed.clock.sleepers(1)
    for id in [3, 4, 11] { _ = try await bed.remote.save(Note(id, "theirs")) }
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    let conflicted = ["remote": "theirs", "local": "mine", "merge": "theirs+mine"][policy] ?? ""
    let wanted = base.map { Note($0.id, [3, 4, 11].contains($0.id) ? conflicted : "mine") }
    #expect(try await bed.remote.execute(everyNote) == wanted)
    #expect(Array(try bed.repository.fetch(Note.self)) == wanted)
    #expect(try await bed.outbox.setAside().count == (policy == "remote" ? 3 : 0))
    #expect(try await bed.outbox.count() == 0)
  }

  @Test(
    "a body that something in between always refuses is found, and the others pass",
    arguments: StuckEntryTests.codes)
  func stuck(code: PersistenceError.Code) async throws {
    let bed = try TestBed.offline { options in
      options.outbox.attempts = 100
      options.stuckEntries = .setAside(afterFailures: 2)
    }
    var notes = Self.notes(40)
    notes[17].text = "bad"
    try await bed.write(notes)
    bed.remote.begin { batch, _ in batch.contains("bad") ? .failure(PersistenceError(code, "no")) : .genuine }
    for _ in 0..<4 { try? await bed.outbox.send() }
    #expect(bed.remote.applied.map(\.object.id).sorted() == notes.map(\.id).filter { $0 != 17 })
    for id in 100..<104 {
      try await bed.source.save(Note(id))
      try? await bed.outbox.send()
    }
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [code])
    #expect(try await bed.outbox.count() == 0)
    #expect(Set(bed.remote.applied.map(\.object.id)).count == bed.remote.applied.count)
  }

  @Test("while a remote layer is out of reach, a batch waits whole and nothing is set aside")
  func outage() async throws {
    let bed = try TestBed.offline()
    try await bed.write(Self.notes(30))
    for _ in 0..<9 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.count() == 30)
    #expect(bed.remote.requests.allSatisfy { $0.texts == ["n0"] || $0.texts.isEmpty })
    bed.remote.begin { _, number in number == 1 ? .lost(LayerTestBed.gone) : .genuine }
    try? await bed.outbox.send()
    try await bed.outbox.send()
    #expect(bed.remote.applied.map(\.object) == Self.notes(30))
    #expect(try await bed.outbox.setAside().isEmpty)
    #expect(bed.remote.requests.count < 8)
  }

  @Test(
    "an error without an explanation sets a batch aside after the limit of attempts, if nothing tells its outcome"
  )
  func unexplained() async throws {
    let bed = try TestBed.offline()
    try await bed.write(Self.notes(3))
    bed.remote.begin { batch, _ in
      batch.contains("n0") ? .genuine : .failure(PersistenceError(.engineFailure, "no idea"))
    }
    for _ in 0..<4 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [.engineFailure, .engineFailure])
  }

  @Test(
    "an entry of a batch with a lost answer can be replaced, and keeps its place", arguments: [true, false])
  func replaced(isApplied: Bool) async throws {
    let bed = try TestBed.offline()
    try await bed.write([Note(0), Note(1, "a"), Note(2, "b"), Note(3, "c"), Note(2, "d")])
    bed.remote.begin { batch, number in
      if number == 0 { return .genuine }
      return isApplied && number == 1 ? .lost(LayerTestBed.gone) : .failure(LayerTestBed.gone)
    }
    try? await bed.outbox.send()
    let waiting = try await bed.outbox.waiting()
    #expect(waiting.count == 4)
    try await bed.outbox.replace(waiting[1], with: [.save(Note(2, "B")), .save(Note(3, "B"))])
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    let applied = bed.remote.applied.map(\.object.text)
    #expect(applied == (isApplied ? ["B", "B"] : ["a", "B", "B", "c", "d"]))
    let wanted =
      isApplied
      ? [Note(0), Note(1, "a"), Note(2, "B"), Note(3, "B")]
      : [Note(0), Note(1, "a"), Note(2, "d"), Note(3, "c")]
    #expect(try await bed.remote.execute(everyNote) == wanted)
    #expect(try await bed.source.execute(everyNote) == wanted)
    #expect(try await bed.outbox.count() == 0)
  }

  @Test(
    "entries of a batch with a lost answer that the app discards do not keep the others",
    arguments: [true, false])
  func discarded(isApplied: Bool) async throws {
    let bed = try TestBed.offline()
    try await bed.write([Note(0), Note(1, "a"), Note(2, "b"), Note(3, "c")])
    bed.remote.begin { _, number in
      if number == 0 { return .genuine }
      return isApplied && number == 1 ? .lost(LayerTestBed.gone) : .failure(LayerTestBed.gone)
    }
    try? await bed.outbox.send()
    let waiting = try await bed.outbox.waiting()
    try await bed.outbox.discard(waiting[1])
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    let wanted = [Note(0), Note(1, "a")] + (isApplied ? [Note(2, "b")] : []) + [Note(3, "c")]
    #expect(try await bed.remote.execute(everyNote) == wanted)
    #expect(try await bed.source.execute(everyNote) == wanted)
    #expect(try await bed.outbox.count() == 0)
  }
}
