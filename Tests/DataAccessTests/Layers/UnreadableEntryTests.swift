@testable import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import Testing

/// Entries that the present declaration cannot read.
@Suite("Unreadable outbox entries")
struct UnreadableEntryTests {
  /// Removes a field of the waiting entries that change a note, as if they were written with another schema.
  private func spoil(_ id: Int, in repository: Repository) throws {
    for var record in Array(try repository.fetch(OutboxRecord.self)) {
      var changes = try LayerCoding.value([OutboxChange].self, record.changes)
      for index in changes.indices
      where changes[index].object.contains(where: { $0.name == "id" && $0.value == .integer(Int64(id)) }) {
        changes[index].object.removeAll { $0.name == "rank" }
      }
      record.changes = try LayerCoding.data(changes)
      try repository.save(record)
    }
  }

  @Test(
    "A1 the objects of an entry that cannot be read are stale in all layers",
    arguments: ["sent", "set aside", "discarded"])
  func stale(how: String) async throws {
    let bed = try OutboxTests.TestBed([Note(1, "theirs")])
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    try await bed.source.save(Note(1, "mine"))
    await bed.senderWaits()
    #expect(try await bed.source.find(1)?.text == "mine")
    try spoil(1, in: bed.repository)
    let entry = try #require(try await bed.outbox.waiting().first)
    #expect(entry.changes == nil)
    switch how {
    case "sent": try await bed.outbox.send()
    case "set aside": try await bed.outbox.setAside(entry)
    default: try await bed.outbox.discard(entry)
    }
    #expect(try await bed.outbox.count() == 0)
    #expect(try await bed.outbox.setAside().count == (how == "discarded" ? 0 : 1))
    for strategy in [RetrievalStrategy.upToDateWithFallback, .fastestAvailable] {
      await #expect(throws: PersistenceError.self) {
        try await bed.source.answer(for: 1, strategy: strategy)
      }
      let all = try? await bed.source.answer(to: everyNote, strategy: strategy)
      #expect(all?.isComplete != true)
    }
    bed.remote.answerOtherwise(.genuine)
    #expect(try await bed.source.find(1)?.text == "theirs")
    bed.remote.answerOtherwise(.failure(LayerTestBed.gone))
    #expect(try await bed.source.find(1)?.text == "theirs")
  }

  @Test("A3 an entry of a joint batch that cannot be read is set aside, and does not leave with the others")
  func joint() async throws {
    let bed = try JoinedBatchTests.TestBed.offline()
    try await bed.write((0..<4).map { Note($0) })
    bed.remote.begin { _, number in
      number == 0 ? .genuine : .failure(PersistenceError(.cancelled, "the process ends"))
    }
    try? await bed.outbox.send()
    try spoil(2, in: bed.repository)
    bed.remote.begin { _, _ in .genuine }
    try await bed.outbox.send()
    #expect(bed.remote.applied.map(\.object.id) == [1, 3])
    #expect(try await bed.outbox.setAside().map(\.keys) == [[Note(2).recordKey]])
    #expect(try await bed.outbox.count() == 0)
  }
}
