@testable import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import PersistenceDriver
import Testing

@Suite("Outbox attempts")
struct OutboxAttemptTests {
  @Test("reads do not count as attempts of waiting entries")
  func reads() async throws {
    let bed = try OutboxTests.TestBed()
    bed.remote.answerOtherwise(.failure(PersistenceError(.engineFailure, "no idea")))
    try await bed.source.save(Note(1))
    await bed.clock.sleepers(1)
    for _ in 0..<20 { _ = try await bed.source.find(1) }
    #expect(try await bed.outbox.setAside().isEmpty)
    #expect(try await bed.outbox.waiting().map(\.attempts) == [1])
    for _ in 0..<2 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.setAside().count == 1)
  }

  @Test(
    "A3 an entry waits for as long as the remote store is closed or incomplete", .timeLimit(.minutes(1)),
    arguments: [PersistenceError.Code.closed, .incompleteStore])
  func unavailable(code: PersistenceError.Code) async throws {
    let bed = try OutboxTests.TestBed()
    bed.remote.answerOtherwise(.failure(PersistenceError(code, "not now")))
    try await bed.source.save(Note(1))
    // More than the limit of attempts.
    for _ in 0..<5 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.setAside().isEmpty)
    #expect(try await bed.outbox.count() == 1)
    bed.remote.answerOtherwise(.genuine)
    try await bed.outbox.send()
    #expect(try await bed.remote.find(1) == Note(1))
  }

  @Test(
    "an unexplained conflict is retried up to the limit and then set aside, with every policy",
    .timeLimit(.minutes(1)), arguments: ["aside", "remote", "local", "merge"])
  func impossible(policy: String) async throws {
    let bed = try OutboxTests.TestBed { options in
      options.conflicts =
        switch policy {
        case "remote": .remoteWins
        case "local": .localWins
        case "merge": .merge { _ in .keepRemote }
        default: .setAside
        }
    }
    bed.remote.answerOtherwise(.failure(PersistenceError(.notFound, "of a proxy")))
    try await bed.source.save(Note(1))
    for _ in 0..<3 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [.notFound])
    #expect(bed.remote.calls.count { $0.operation == .apply } == 3)
    try await bed.outbox.discard(try #require(try await bed.outbox.setAside().first))

    guard policy == "merge" else { return }
    // This entry could conflict, but does not.
    bed.remote.answerOtherwise(.genuine)
    for _ in 0..<9 { bed.remote.script(.failure(PersistenceError(.duplicateKey, "is it?")), for: .apply) }
    try await bed.source.insert(Note(2))
    for _ in 0..<3 { try? await bed.outbox.send() }
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [.duplicateKey])
  }

  @Test("a resent entry is in the cache at once and no longer stale")
  func resent() async throws {
    let bed = try OutboxTests.TestBed([Note(1, "theirs")])
    bed.remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await bed.source.save(Note(1, "mine"))
    try await bed.outbox.send()
    #expect(try await bed.source.find(1)?.text == "theirs")
    #expect(try await bed.cache.find(1)?.text == "theirs")
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    let entry = try #require(try await bed.outbox.setAside().first)
    try await bed.outbox.resend(entry, as: [.save(Note(1, "again"))])
    #expect(try await bed.source.answer(for: 1, strategy: .fastestAvailable).value?.text == "again")
    #expect(try await bed.source.answer(for: 1).value?.text == "again")
  }

  @Test("an older answer does not overwrite a resent entry in flight")
  func resentDuringRead() async throws {
    let bed = try OutboxTests.TestBed()
    bed.remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await bed.source.save(Note(1, "mine"))
    try await bed.outbox.send()
    let entry = try #require(try await bed.outbox.setAside().first)
    bed.remote.script(.genuine.after(.seconds(1)), for: .find)
    let read = Task { try await bed.source.find(1) }
    await bed.clock.sleepers(1)
    bed.remote.script(.failure(LayerTestBed.gone), for: .apply)
    try await bed.outbox.resend(entry)
    bed.clock.advance(by: .seconds(1))
    _ = try await read.value
    #expect(try bed.repository.find(Note.self, id: 1)?.text == "mine")
    #expect(try await bed.cache.find(1)?.text == "mine")
  }

  /// A test bed with a waiting write of the first note, and with one of the second note in the same batch if it is joint.
  private func bed(isJoint: Bool, _ answer: ScriptedAnswer) async throws -> OutboxTests.TestBed {
    let bed = try OutboxTests.TestBed([Note(1, "old"), Note(2, "old")])
    if isJoint {
      bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
      try await bed.source.save(Note(3))
      await bed.clock.sleepers(1)
      try await bed.source.save(Note(1, "mine"))
      try await bed.source.save(Note(2, "mine"))
      bed.remote.script(.genuine, answer, for: .apply)
      await #expect(throws: PersistenceError.self) { try await bed.outbox.send() }
      bed.remote.answerOtherwise(.genuine)
    } else {
      bed.remote.script(answer, for: .apply)
      try await bed.source.save(Note(1, "mine"))
      await bed.clock.sleepers(1)
    }
    #expect(try await bed.outbox.count() == (isJoint ? 2 : 1))
    return bed
  }

  @Test("A3 an entry whose answer was lost is applied once, though it was resent", arguments: [false, true])
  func resentAfterLostAnswer(isJoint: Bool) async throws {
    let bed = try await bed(isJoint: isJoint, .lost(LayerTestBed.gone))
    let entry = try #require(try await bed.outbox.waiting().first)
    try await bed.outbox.setAside(entry)
    _ = try await bed.remote.save(Note(1, "theirs"))
    try await bed.outbox.resend(try #require(try await bed.outbox.setAside().first))
    try await bed.outbox.send()
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.remote.find(1) == Note(1, "theirs"))
    #expect(try await bed.source.find(1) == Note(1, "theirs"))
    #expect(try await bed.remote.find(2) == Note(2, isJoint ? "mine" : "old"))
  }

  @Test("A3 an entry that never arrived is applied after it was resent", arguments: [false, true])
  func resentAfterLostRequest(isJoint: Bool) async throws {
    let bed = try await bed(isJoint: isJoint, .failure(LayerTestBed.gone))
    let entry = try #require(try await bed.outbox.waiting().first)
    try await bed.outbox.setAside(entry)
    try await bed.outbox.send()
    #expect(try await bed.remote.find(1) == Note(1, "old"))
    #expect(try await bed.remote.find(2) == Note(2, isJoint ? "mine" : "old"))
    try await bed.outbox.resend(try #require(try await bed.outbox.setAside().first))
    try await bed.outbox.send()
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.remote.find(1) == Note(1, "mine"))
  }

  @Test("A3 a request that arrives after other changes were resent has no effect")
  func lateRequest() async throws {
    let bed = try await bed(isJoint: false, .failure(LayerTestBed.gone))
    let entry = try #require(try await bed.outbox.waiting().first)
    try await bed.outbox.setAside(entry)
    let aside = try #require(try await bed.outbox.setAside().first)
    try await bed.outbox.resend(aside, as: [.save(Note(1, "again"))])
    try await bed.outbox.send()
    _ = try? await bed.remote.apply(ChangeBatch(entry.changes ?? [], id: entry.id))
    #expect(try await bed.remote.find(1) == Note(1, "again"))
    #expect(try await bed.outbox.count() == 0)
  }

  @Test("an explicit send ignores the outcome of an attempt that started before it")
  func askedDuringAttempt() async throws {
    let bed = try OutboxTests.TestBed()
    bed.remote.script(.failure(LayerTestBed.gone).after(.seconds(1)), for: .apply)
    try await bed.source.save(Note(1))
    await bed.clock.sleepers(1)
    let sent = Task { try await bed.outbox.send() }
    for _ in 0..<1000 { await Task.yield() }
    bed.clock.advance(by: .seconds(1))
    try await sent.value
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.remote.execute(everyNote) == [Note(1)])
  }

  @Test("a conflict does not overwrite a later local write, which is sent after it")
  func laterWrite() async throws {
    let bed = try OutboxTests.TestBed([Note(1, "base")]) { $0.conflicts = .remoteWins }
    _ = try await bed.source.execute(everyNote)
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.update(Note(1, "mine"), replacing: Note(1, "base"))
    try await bed.source.save(Note(1, "later"))
    await bed.senderWaits()
    bed.remote.answerOtherwise(.genuine)
    try await bed.remote.save(Note(1, "theirs"))
    bed.remote.script(.genuine, .failure(LayerTestBed.gone), for: .apply)
    try? await bed.outbox.send()
    #expect(try await bed.outbox.setAside().map(\.error?.code) == [.conflict])
    #expect(try bed.repository.find(Note.self, id: 1)?.text == "later")
    try await bed.outbox.send()
    #expect(try await bed.remote.find(1)?.text == "later")
  }

  @Test("entries of the first release are found by their keys, and sent")
  func firstRelease() async throws {
    let repository = Repository(MemoryContext())
    let remote = try ScriptedDataSource<Note>()
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let before = try OutboxTests.TestBed(in: repository, remote: remote)
    try await before.source.save(Note(1, "mine"))
    await before.senderWaits()
    await before.outbox.sender.stop()
    // That release had neither the keys nor the name of the schema.
    _ = try repository.filter(WaitingKeyRecord.self).delete()
    for var record in Array(try repository.fetch(OutboxRecord.self)) {
      (record.schemaName, record.failures) = (nil, nil)
      try repository.save(record)
    }
    let bed = try OutboxTests.TestBed(in: repository, remote: remote)
    #expect(try await bed.source.answer(for: 1).value?.text == "mine")
    remote.answerOtherwise(.genuine)
    try await bed.outbox.send()
    #expect(try await remote.execute(everyNote) == [Note(1, "mine")])
    #expect(try repository.count(WaitingKeyRecord.self) == 0)
  }

  @Test("a stopped sender does not start again")
  func stopped() async throws {
    let bed = try OutboxTests.TestBed()
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    await bed.outbox.sender.stop()
    try await bed.source.save(Note(1))
    for _ in 0..<100 { #expect(try await bed.outbox.count() == 1) }
    #expect(bed.remote.calls.isEmpty)
  }

  @Test("the write log forgets keys, even with overlapping reads")
  func writeLog() {
    let log = WriteLog()
    do {
      var reading = log.beginReading(isOfTop: true, at: .distantPast)
      for id in 0..<10_000 {
        let next = log.beginReading(isOfTop: true, at: .distantPast)
        let key = RecordKey(id.keyValues)
        log.begin([key], at: .distantPast)
        #expect(log.state(of: key, in: .local, for: next) == .undecided)
        log.end([key], storedIn: [.local])
        #expect(log.state(of: key, in: .local, for: next) == .newer)
        #expect(log.state(of: key, in: .local, for: reading) == .newer)
        #expect(log.state(of: key, in: .cache, for: reading) == .older)
        // Releases the earlier read.
        reading = next
        #expect(log.count == 1)
      }
    }
    #expect(log.count == 0)
  }
}
