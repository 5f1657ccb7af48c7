@testable import DataAccess
import DataAccessTesting
import PersistenceCore
import PersistenceDriver
import Testing

@Suite("Attempts of the outbox")
struct OutboxAttemptTests {
  @Test("reads do not use up the attempts of what waits")
  func reads() async throws {
    let bench = try OutboxTests.Bench()
    bench.remote.answerOtherwise(.failure(PersistenceError(.engineFailure, "no idea")))
    try await bench.store.save(Note(1))
    await bench.clock.sleepers(1)
    for _ in 0..<20 { _ = try await bench.store.find(1) }
    #expect(try await bench.outbox.setAside().isEmpty)
    #expect(try await bench.outbox.waiting().map(\.attempts) == [1])
    for _ in 0..<2 { try? await bench.outbox.send() }
    #expect(try await bench.outbox.setAside().count == 1)
  }

  @Test(
    "a conflict that nothing in the entry can have is tried so often, and then set aside, by every policy",
    .timeLimit(.minutes(1)), arguments: ["aside", "remote", "local", "merge"])
  func impossible(policy: String) async throws {
    let bench = try OutboxTests.Bench { options in
      options.conflicts =
        switch policy {
        case "remote": .remoteWins
        case "local": .localWins
        case "merge": .merge { _ in .keepRemote }
        default: .setAside
        }
    }
    bench.remote.answerOtherwise(.failure(PersistenceError(.notFound, "of a proxy")))
    try await bench.store.save(Note(1))
    for _ in 0..<3 { try? await bench.outbox.send() }
    #expect(try await bench.outbox.setAside().map(\.error?.code) == [.notFound])
    #expect(bench.remote.calls.count { $0.operation == .apply } == 3)
    try await bench.outbox.discard(try #require(try await bench.outbox.setAside().first))

    guard policy == "merge" else { return }
    // One that could conflict, and does not.
    bench.remote.answerOtherwise(.genuine)
    for _ in 0..<9 { bench.remote.script(.failure(PersistenceError(.duplicateKey, "is it?")), for: .apply) }
    try await bench.store.insert(Note(2))
    for _ in 0..<3 { try? await bench.outbox.send() }
    #expect(try await bench.outbox.setAside().map(\.error?.code) == [.duplicateKey])
  }

  @Test("what is resent is in the cache at once, and in doubt no more")
  func resent() async throws {
    let bench = try OutboxTests.Bench([Note(1, "theirs")])
    bench.remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await bench.store.save(Note(1, "mine"))
    try await bench.outbox.send()
    #expect(try await bench.store.find(1)?.text == "theirs")
    #expect(try await bench.cache.find(1)?.text == "theirs")
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    let entry = try #require(try await bench.outbox.setAside().first)
    try await bench.outbox.resend(entry, as: [.save(Note(1, "again"))])
    #expect(try await bench.store.answer(for: 1, strategy: .fastestAvailable).value?.text == "again")
    #expect(try await bench.store.answer(for: 1).value?.text == "again")
  }

  @Test("an older answer does not undo what is resent while it is under way")
  func resentDuringRead() async throws {
    let bench = try OutboxTests.Bench()
    bench.remote.script(.failure(PersistenceError(.uniqueViolation, "taken")), for: .apply)
    try await bench.store.save(Note(1, "mine"))
    try await bench.outbox.send()
    let entry = try #require(try await bench.outbox.setAside().first)
    bench.remote.script(.genuine.after(.seconds(1)), for: .find)
    let read = Task { try await bench.store.find(1) }
    await bench.clock.sleepers(1)
    bench.remote.script(.failure(LayerBench.gone), for: .apply)
    try await bench.outbox.resend(entry)
    bench.clock.advance(by: .seconds(1))
    _ = try await read.value
    #expect(try bench.repository.find(Note.self, id: 1)?.text == "mine")
    #expect(try await bench.cache.find(1)?.text == "mine")
  }

  @Test("who asks for sending is not answered with what an attempt met that had begun before")
  func askedDuringAttempt() async throws {
    let bench = try OutboxTests.Bench()
    bench.remote.script(.failure(LayerBench.gone).after(.seconds(1)), for: .apply)
    try await bench.store.save(Note(1))
    await bench.clock.sleepers(1)
    let sent = Task { try await bench.outbox.send() }
    for _ in 0..<1000 { await Task.yield() }
    bench.clock.advance(by: .seconds(1))
    try await sent.value
    #expect(try await bench.outbox.count() == 0)
    #expect(try await bench.remote.execute(everyNote) == [Note(1)])
  }

  @Test("a sender that was stopped does not begin again")
  func stopped() async throws {
    let bench = try OutboxTests.Bench()
    bench.remote.answerOtherwise(.failure(LayerBench.gone))
    await bench.outbox.sender.stop()
    try await bench.store.save(Note(1))
    for _ in 0..<100 { #expect(try await bench.outbox.count() == 1) }
    #expect(bench.remote.calls.isEmpty)
  }

  @Test("keys that were written are forgotten, however readings overlap")
  func writeLog() {
    let log = WriteLog()
    var reading = log.beginReading(isOfTop: true)
    for id in 0..<10_000 {
      let next = log.beginReading(isOfTop: true)
      let key = RecordKey(id.keyValues)
      log.begin([key])
      log.end([key])
      #expect(log.isNewer(key, than: next) && log.isNewer(key, than: reading))
      log.end(reading)
      reading = next
      #expect(log.count == 1)
    }
    log.end(reading)
    #expect(log.count == 0)
  }
}
