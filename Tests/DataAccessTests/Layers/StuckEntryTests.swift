import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Synchronization
import Testing

/// An entry that something between this device and the server always refuses.
@Suite("Stuck outbox entries")
struct StuckEntryTests {
  /// A remote data source behind a proxy that refuses batches with some words.
  private final class Proxy: DataSource {
    let base: ScriptedDataSource<Note>
    private let refusal: Mutex<PersistenceError?>

    init(_ objects: [Note], refusing error: PersistenceError?, clock: TestClock) throws {
      base = try ScriptedDataSource(objects, clock: clock)
      refusal = Mutex(error)
    }

    func refuse(_ error: PersistenceError?) { refusal.withLock { $0 = error } }

    func insert(_ object: Note) async throws(PersistenceError) -> Note { try await base.insert(object) }
    func update(_ object: Note) async throws(PersistenceError) -> Note { try await base.update(object) }
    func update(_ object: Note, replacing old: Note) async throws(PersistenceError) -> Note {
      try await base.update(object, replacing: old)
    }
    func save(_ object: Note) async throws(PersistenceError) -> Note { try await base.save(object) }
    func delete(_ object: Note) async throws(PersistenceError) -> Note? { try await base.delete(object) }
    func apply(_ batch: ChangeBatch<Note>) async throws(PersistenceError) -> Bool {
      if let error = refusal.withLock({ $0 }), batch.changes.contains(where: { $0.object.text == "poison" }) {
        throw error
      }
      return try await base.apply(batch)
    }
    func find(_ key: Int) async throws(PersistenceError) -> Note? { try await base.find(key) }
    func execute(_ query: FetchOptions<Note>) async throws(PersistenceError) -> [Note] {
      try await base.execute(query)
    }
    func count(_ query: FetchOptions<Note>) async throws(PersistenceError) -> Int {
      try await base.count(query)
    }
  }

  /// The errors of proxies that answer 502, reset a connection, 403 or 400.
  static let codes: [PersistenceError.Code] = [.unreachable, .timedOut, .unauthorized, .inputOutput]

  private struct TestBed {
    let clock = TestClock()
    let proxy: Proxy
    let source: LayeredDataSource<Note>
    let outbox: Outbox<Note>

    init(
      _ code: PersistenceError.Code, _ objects: [Note] = [],
      change: (inout LayerOptions<Note>) -> Void = { _ in }
    ) throws {
      proxy = try Proxy(objects, refusing: PersistenceError(code, "no"), clock: clock)
      var options = LayerTestBed.options(clock)
      options.writes = .localFirst
      (options.remote.timeout, options.local.timeout) = (nil, nil)
      // The sender in the background never makes a second attempt.
      options.outbox = RetryPolicy(
        attempts: 100, firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
      change(&options)
      source = try LayeredDataSource(
        cache: CacheDataSource(), local: RepositoryDataSource<Note>.inMemory(), remote: proxy,
        options: options)
      outbox = try #require(source.outbox)
    }

    /// Writes the refused entry, and waits until the sender in the background has failed once.
    func writePoison(_ id: Int = 1) async throws {
      try await source.save(Note(id, "poison"))
      await clock.sleepers(1)
    }

    func send(_ count: Int) async { for _ in 0..<count { try? await outbox.send() } }
  }

  @Test("waiting entries show their attempts and their last error", arguments: codes)
  func shown(code: PersistenceError.Code) async throws {
    let bed = try TestBed(code)
    try await bed.writePoison()
    try await bed.source.save(Note(2))
    let entries = try await bed.outbox.waiting()
    #expect(entries.map(\.attempts) == [1, 0])
    #expect(entries.map(\.error?.code) == [code, nil] && entries.allSatisfy { !$0.isSetAside })
    #expect(entries[0].error?.message == "no")
  }

  @Test(
    "entries of other objects pass an entry that fails alone, which is set aside in the end", arguments: codes
  )
  func overtaken(code: PersistenceError.Code) async throws {
    let bed = try TestBed(code) { $0.stuckEntries = .setAside(afterFailures: 2) }
    try await bed.writePoison()
    try await bed.source.save(Note(1, "later"))
    try await bed.source.save(Note(2))
    try await bed.source.save(Note(3))
    // The first attempts keep the order.
    await bed.send(1)
    #expect(try await bed.proxy.base.execute(everyNote).isEmpty)
    await bed.send(1)
    #expect(try await bed.proxy.base.execute(everyNote) == [Note(2), Note(3)])
    // The second entry changes the same object as the first.
    #expect(try await bed.outbox.waiting().map { $0.changes?.first?.object.text } == ["poison", "later"])
    #expect(try await bed.outbox.setAside().isEmpty)
    try await bed.source.save(Note(4))
    await bed.send(1)
    let aside = try await bed.outbox.setAside()
    #expect(aside.map(\.error?.code) == [code] && aside.allSatisfy { $0.isSetAside })
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.proxy.base.execute(everyNote) == [Note(1, "later"), Note(2), Note(3), Note(4)])
  }

  @Test("with the policy wait, later entries wait for ever; without others, nothing is set aside")
  func strict() async throws {
    let bed = try TestBed(.unreachable) { $0.stuckEntries = .wait }
    try await bed.writePoison()
    try await bed.source.save(Note(2))
    await bed.send(20)
    #expect(try await bed.outbox.count() == 2)
    #expect(try await bed.proxy.base.execute(everyNote).isEmpty)
    let alone = try TestBed(.unreachable) { $0.stuckEntries = .setAside(afterFailures: 1) }
    try await alone.writePoison()
    await alone.send(20)
    #expect(try await alone.outbox.waiting().map(\.attempts) == [21])
  }

  @Test("an entry that is rejected out of order waits for its turn")
  func outOfOrder() async throws {
    let bed = try TestBed(.unreachable, [Note(2)]) { $0.stuckEntries = .setAside(afterFailures: 100) }
    try await bed.writePoison()
    try await bed.source.insert(Note(2, "mine"))
    try await bed.source.insert(Note(3))
    await bed.send(4)
    #expect(try await bed.outbox.setAside().isEmpty)
    #expect(try await bed.proxy.base.execute(everyNote) == [Note(2), Note(3)])
    bed.proxy.refuse(nil)
    await bed.send(1)
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [.duplicateKey])
    #expect(try await bed.outbox.count() == 0)
  }

  @Test("an app sets aside, replaces and discards a waiting entry")
  func changed() async throws {
    let bed = try TestBed(.unauthorized)
    try await bed.writePoison()
    try await bed.source.save(Note(2))
    let first = try #require(try await bed.outbox.waiting().first)
    try await bed.outbox.setAside(first)
    try await bed.outbox.send()
    #expect(try await bed.proxy.base.execute(everyNote) == [Note(2)])
    let aside = try #require(try await bed.outbox.setAside().first)
    #expect(aside.id == first.id && aside.error?.code == .unauthorized)
    try await bed.outbox.resend(aside)
    await bed.send(1)

    let again = try #require(try await bed.outbox.waiting().first)
    try await bed.outbox.replace(again, with: [.save(Note(1, "cured")), .save(Note(3))])
    #expect(try await bed.source.find(1)?.text == "cured")
    let cured = try #require(try await bed.outbox.waiting().first)
    #expect(cured.number == again.number && cured.id != again.id && cured.attempts == 0 && cured.error == nil)
    try await bed.outbox.send()
    #expect(try await bed.proxy.base.execute(everyNote) == [Note(1, "cured"), Note(2), Note(3)])

    try await bed.source.save(Note(2, "poison"))
    await bed.send(1)
    let last = try #require(try await bed.outbox.waiting().first)
    try await bed.outbox.discard(last)
    #expect(try await bed.outbox.count() == 0)
    // The local object was never sent, so it is stale.
    #expect(try await bed.source.find(2) == Note(2))
    for entry in [first, again, last] {
      let error = await #expect(throws: PersistenceError.self) { try await bed.outbox.discard(entry) }
      #expect(error?.code == .notFound)
      await #expect(throws: PersistenceError.self) { try await bed.outbox.setAside(entry) }
      await #expect(throws: PersistenceError.self) {
        try await bed.outbox.replace(entry, with: [.save(Note(9))])
      }
    }
  }

  @Test(
    "A2 reads do not need the right to write", arguments: [PersistenceError.Code.unauthorized, .inputOutput])
  func readOnlyToken(code: PersistenceError.Code) async throws {
    let bed = try TestBed(code, [Note(5, "old")])
    _ = try await bed.source.execute(everyNote)
    try await bed.writePoison()
    try await bed.proxy.base.save(Note(5, "new"))
    let wanted = [Note(1, "poison"), Note(5, "new")]
    for strategy in RetrievalStrategy.allCases {
      let answer = try await bed.source.answer(to: everyNote, strategy: strategy)
      #expect(answer.isComplete && (answer.value == wanted || strategy == .fastestAvailable))
    }
    let answer = try await bed.source.answer(to: everyNote)
    #expect(answer.value == wanted && answer.source == .local && answer.age == .zero)
    #expect(answer.failures.map(\.error.code) == [code])
    #expect(try await bed.source.find(1)?.text == "poison")
    #expect(try await bed.source.find(5)?.text == "new")
    #expect(try await bed.source.count(everyNote) == 2)
    // Offline too.
    bed.proxy.base.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await bed.source.execute(everyNote) == wanted)
    #expect(try await bed.outbox.count() == 1)
  }

  @Test("A2 a server of an older version makes entries wait, and hides no local data")
  func olderServer() async throws {
    let bed = try TestBed(.schemaMismatch, [Note(5)])
    _ = try await bed.source.execute(everyNote)
    let older = PersistenceError(.schemaMismatch, "the server has another schema")
    bed.proxy.base.answerOtherwise(.failure(older))
    try await bed.writePoison()
    await bed.send(20)
    #expect(try await bed.outbox.waiting().map(\.error?.code) == [.schemaMismatch])
    #expect(try await bed.source.execute(everyNote) == [Note(1, "poison"), Note(5)])
    #expect(try await bed.source.find(5) == Note(5))
    #expect(try await bed.source.count(everyNote) == 2)
    // The server is updated.
    bed.proxy.base.answerOtherwise(.genuine)
    bed.proxy.refuse(nil)
    try await bed.outbox.send()
    #expect(try await bed.source.answer(to: everyNote).isUpToDate)
  }

  @Test("an own write that waits is found by its key without the remote layer")
  func ownWrite() async throws {
    let bed = try TestBed(.unreachable)
    try await bed.writePoison()
    try await bed.source.delete(Note(2))
    let calls = bed.proxy.base.calls.count
    #expect(try await bed.source.answer(for: 1).source == .local)
    #expect(try await bed.source.find(1)?.text == "poison")
    #expect(try await bed.source.find(2) == nil)
    #expect(bed.proxy.base.calls.count == calls)
  }

  @Test("a batch that the remote layer applied in other words leaves the outbox, and its objects are stale")
  func batchReused() async throws {
    let bed = try TestBed(.init(rawValue: "batchReused"), [Note(1, "theirs")])
    try await bed.source.save(Note(1, "poison"))
    try await bed.outbox.send()
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.outbox.setAside().isEmpty)
    #expect(try await bed.source.find(1)?.text == "theirs")
  }
}
