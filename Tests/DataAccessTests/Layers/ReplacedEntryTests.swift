import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// Entries that are replaced while a request with their earlier changes may still arrive.
@Suite("Replaced entries of the outbox")
struct ReplacedEntryTests {
  private typealias TestBed = JoinedBatchTests.TestBed

  /// Sends the first of two entries, without an answer, and replaces it.
  ///
  /// - Returns: The request without an answer.
  private func replaceFirst(in bed: TestBed) async throws -> ChangeBatch<Note> {
    try await bed.write([Note(0, "old"), Note(1, "b")])
    let request = try #require(bed.remote.requests.first).batch
    let entry = try #require(try await bed.outbox.waiting().first)
    #expect(entry.id == request.id)
    try await bed.outbox.replace(entry, with: [.save(Note(0, "newer"))])
    let again = try #require(try await bed.outbox.waiting().first)
    #expect(again.number == entry.number && again.id != entry.id)
    try await bed.outbox.replace(again, with: [.save(Note(0, "new"))])
    return request
  }

  @Test(
    "A3 earlier changes of a replaced entry never follow the new ones, also after a restart",
    arguments: [BatchLimits(), nil], [true, false])
  func delayed(limits: BatchLimits?, isApplied: Bool) async throws {
    let remote = try BatchRecorder(limits: limits) { _, _ in
      isApplied ? .lost(LayerTestBed.gone) : .failure(LayerTestBed.gone)
    }
    let bed = try TestBed(remote: remote)
    let request = try await replaceFirst(in: bed)
    remote.begin { _, _ in .failure(LayerTestBed.gone) }
    await #expect(throws: PersistenceError.self) { try await bed.outbox.send() }
    remote.begin { _, _ in .genuine }
    let restarted = try TestBed(in: bed.repository, remote: remote)
    try await restarted.outbox.send()
    #expect(remote.applied.map(\.object.text) == ["new", "b"])
    _ = try? await remote.base.apply(request)
    let wanted = [Note(0, "new"), Note(1, "b")]
    #expect(try await remote.execute(everyNote) == wanted)
    #expect(try await restarted.source.execute(everyNote) == wanted)
    #expect(try await restarted.outbox.count() == 0)
    #expect(try await restarted.outbox.setAside().isEmpty)
  }

  @Test("an entry that was never sent is replaced without a further request")
  func unsent() async throws {
    let bed = try TestBed.offline()
    try await bed.write([Note(0, "a"), Note(1, "old")])
    let entry = try #require(try await bed.outbox.waiting().last)
    try await bed.outbox.replace(entry, with: [.save(Note(1, "new"))])
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    #expect(bed.remote.requests.map(\.texts) == [["a"], ["new"]])
  }

  @Test("A3 a remote layer without limits that refuses empty batches gets the new changes")
  func refusedEmptyBatch() async throws {
    let remote = try BatchRecorder(limits: nil) { _, _ in .failure(LayerTestBed.gone) }
    let bed = try TestBed(remote: remote)
    _ = try await replaceFirst(in: bed)
    remote.begin { batch, _ in
      batch.changes.isEmpty ? .failure(PersistenceError(.invalidRequest, "no changes")) : .genuine
    }
    try await bed.outbox.send()
    #expect(remote.applied.map(\.object.text) == ["new", "b"])
    #expect(try await bed.outbox.setAside().isEmpty)
  }

  @Test("A3 a change that conflicted never follows its resolution")
  func conflict() async throws {
    let bed = try TestBed.offline([Note(0, "base")]) { $0.conflicts = .localWins }
    _ = try await bed.source.execute(everyNote)
    try await bed.source.update(Note(0, "mine"), replacing: Note(0, "base"))
    await bed.clock.sleepers(1)
    let request = try #require(bed.remote.requests.first).batch
    _ = try await bed.remote.save(Note(0, "theirs"))
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    #expect(try await bed.remote.find(0)?.text == "mine")
    _ = try await bed.remote.save(Note(0, "base"))
    let error = await #expect(throws: PersistenceError.self) { try await bed.remote.base.apply(request) }
    #expect(error?.code == .batchReused)
    #expect(try await bed.remote.find(0)?.text == "base")
  }
}
