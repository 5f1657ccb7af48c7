@testable import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceCore
import Testing

/// A process that ends while its sender waits for a request.
///
/// Between two requests, a sender changes only the local store, in one transaction. So a kill at any line is one before
/// or after a request takes effect.
@Suite("Kills of a sender at each request")
struct SenderKillTests {
  /// The requests at which processes end, and whether the remote layer has applied the batch then.
  private struct Kill {
    var request: Int
    var isApplied: Bool

    static let all = (0..<40).flatMap { request in
      [false, true].map { Kill(request: request, isApplied: $0) }
    }
  }

  /// Writes that each name a state of one object.
  private static let writes: [ObjectChange<Note>] = [
    .save(Note(0, "0a")), .insert(Note(1, "1a")), .update(Note(1, "1b"), replacing: Note(1, "1a")),
    .save(Note(2, "bad")), .insert(Note(3, "3a")), .save(Note(1, "1c")), .save(Note(0, "0b")),
    .update(Note(3, "3b"), replacing: Note(3, "3a")), .insert(Note(4, "4a")), .delete(Note(4, "4b")),
    .insert(Note(5, "5a")),
  ]

  private func write(_ change: ObjectChange<Note>, to source: LayeredDataSource<Note>) async throws {
    switch change {
    case .insert(let note): try await source.insert(note)
    case .update(let note, let old): if let old { try await source.update(note, replacing: old) }
    case .save(let note): try await source.save(note)
    case .delete(let note): try await source.delete(note)
    }
  }

  /// Sends until a request hangs, and then drops the sender; false if none does.
  private func sendUntil(
    _ kill: Kill, _ code: PersistenceError.Code, _ repository: Repository, _ remote: BatchRecorder
  ) async throws -> Bool {
    let bed = try JoinedBatchTests.TestBed(in: repository, remote: remote) { $0.outbox.attempts = 100 }
    remote.begin { batch, number in
      let isRefused = batch.contains("bad")
      if number == kill.request { return kill.isApplied && !isRefused ? .hangsAfter : .hangsBefore }
      return isRefused ? .failure(PersistenceError(code, "no")) : .genuine
    }
    let sending = Task {
      for _ in 0..<6 where !Task.isCancelled { try? await bed.outbox.send() }
      remote.close()
    }
    let isHanging = await remote.hangs()
    sending.cancel()
    await bed.outbox.sender.stop()
    await sending.value
    return isHanging
  }

  @Test(
    "A3 nothing is lost and nothing applied twice, and the writes of an object stay in order",
    arguments: [PersistenceError.Code.uniqueViolation, .unreachable])
  func kills(code: PersistenceError.Code) async throws {
    var killed = 0
    // Without the soak test, each request has one kill: before it for one of the codes, after it for the other.
    let kills = Kill.all.filter {
      Environment.isSoak || $0.isApplied == ($0.request.isMultiple(of: 2) == (code == .unreachable))
    }
    for first in kills {
      let count = try await check([first], code)
      killed += count
      // Later requests are not made either.
      if count == 0 {
        // Otherwise the test would kill nothing.
        #expect(killed > 10)
        return
      }
      for second in Environment.isSoak ? Kill.all : [] where try await check([first, second], code) < 2 {
        break
      }
    }
    Issue.record("the sender makes more requests than the test has kills")
  }

  /// Runs a history with kills, and returns how many of them happened.
  private func check(_ kills: [Kill], _ code: PersistenceError.Code) async throws -> Int {
    let repository = Repository(MemoryContext())
    let remote = try BatchRecorder { _, _ in .failure(LayerTestBed.gone) }
    do {
      let bed = try JoinedBatchTests.TestBed(in: repository, remote: remote)
      for change in Self.writes { try await write(change, to: bed.source) }
      await bed.clock.sleepers(1)
      await bed.outbox.sender.stop()
    }
    var (applied, count) = ([Note](), 0)
    for kill in kills {
      if try await sendUntil(kill, code, repository, remote) { count += 1 }
      applied += remote.applied.map(\.object)
    }
    let bed = try JoinedBatchTests.TestBed(in: repository, remote: remote)
    remote.begin { batch, _ in
      batch.contains("bad") ? .failure(PersistenceError(.uniqueViolation, "no")) : .genuine
    }
    for _ in 0..<4 { try? await bed.outbox.send() }
    applied += remote.applied.map(\.object)

    for key in 0..<6 {
      let texts = applied.filter { $0.id == key }.map(\.text)
      let wanted = Self.writes.map(\.object).filter { $0.id == key && $0.text != "bad" }.map(\.text)
      #expect(texts == wanted, "\(kills)")
    }
    #expect(try await bed.outbox.count() == 0, "\(kills)")
    let aside = try await bed.outbox.setAside().compactMap { $0.changes?.first?.object.text }
    #expect(aside == ["bad"], "\(kills)")
    let truth = try await remote.execute(everyNote)
    #expect(truth.map(\.text) == ["0b", "1c", "3b", "5a"], "\(kills)")
    #expect(try await bed.source.execute(everyNote) == truth, "\(kills)")
    await bed.outbox.sender.stop()
    return count
  }

  @Test("entries of an earlier release are sent alone, under their own ids")
  func earlierRelease() async throws {
    let repository = Repository(MemoryContext())
    let remote = try BatchRecorder { _, _ in .failure(LayerTestBed.gone) }
    let before = try JoinedBatchTests.TestBed(in: repository, remote: remote)
    for id in 0..<4 { try await before.source.insert(Note(id)) }
    await before.clock.sleepers(1)
    await before.outbox.sender.stop()
    for var record in Array(try repository.fetch(OutboxRecord.self)) {
      record.isUnsent = nil
      try repository.save(record)
    }
    let ids = try await before.outbox.waiting().map(\.id)
    // That release has sent an entry whose answer was lost.
    _ = try await remote.base.apply(ChangeBatch([.insert(Note(1))], id: ids[1]))
    remote.begin { _, _ in .genuine }
    let bed = try JoinedBatchTests.TestBed(in: repository, remote: remote)
    try await bed.outbox.send()
    #expect(remote.requests.map(\.batch.id) == ids)
    #expect(try await remote.execute(everyNote) == (0..<4).map { Note($0) })
    #expect(try await bed.outbox.setAside().isEmpty)
  }

  @Test("two processes that send the same batch apply it once, also while one separates it")
  func twoProcesses() async throws {
    let repository = Repository(MemoryContext())
    let remote = try BatchRecorder { _, _ in .failure(LayerTestBed.gone) }
    let first = try JoinedBatchTests.TestBed(in: repository, remote: remote) { $0.outbox.attempts = 100 }
    let notes = (0..<8).map { Note($0, $0 == 5 ? "bad" : "n\($0)") }
    for note in notes { try await first.source.save(note) }
    await first.clock.sleepers(1)
    let second = try JoinedBatchTests.TestBed(in: repository, remote: remote) { $0.outbox.attempts = 100 }
    remote.begin { batch, _ in
      batch.contains("bad") ? .failure(PersistenceError(.uniqueViolation, "no")) : .genuine
    }
    async let one: Void? = try? first.outbox.send()
    async let other: Void? = try? second.outbox.send()
    _ = await (one, other)
    try await first.outbox.send()
    let applied = remote.applied.map(\.object).filter { $0.text != "bad" }
    #expect(applied.sorted { $0.id < $1.id } == notes.filter { $0.text != "bad" })
    #expect(try await first.outbox.setAside().count == 1)
    #expect(try await second.outbox.count() == 0)
  }
}
