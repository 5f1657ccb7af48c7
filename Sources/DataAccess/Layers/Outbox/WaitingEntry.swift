import Foundation
import PersistenceCore

/// An entry that waits, with its changes.
struct WaitingEntry<Object: PersistentRecord>: Sendable {
  let record: OutboxRecord
  /// The changes; a failure if the present declaration cannot read them.
  let changes: Result<[ObjectChange<Object>], PersistenceError>

  var isReadable: Bool { if case .success = changes { true } else { false } }

  var keys: [RecordKey] { ((try? changes.get()) ?? []).map(\.object.recordKey) }
}

/// Waiting entries that the sender sends in one request.
struct OutboxBatch<Object: PersistentRecord>: Sendable {
  /// The id of the batch for the remote layer.
  let id: UUID
  let entries: [WaitingEntry<Object>]

  /// Whether the batch may have other entries than this one, and an id of its own.
  let isJoint: Bool

  init(alone entry: WaitingEntry<Object>) { (id, entries, isJoint) = (entry.record.batch, [entry], false) }

  init(joint id: UUID, _ entries: [WaitingEntry<Object>]) {
    (self.id, self.entries, isJoint) = (id, entries, true)
  }

  /// Whether it must be certain that the remote layer never applies the batch, before an entry is sent again.
  var isRevoked: Bool { isJoint && entries.contains { $0.record.isRevoked == true } }

  /// The entry of a batch that is not joint.
  var alone: WaitingEntry<Object>? { isJoint ? nil : entries.first }

  /// The batch after its revocation.
  var revoked: OutboxBatch {
    OutboxBatch(
      joint: id,
      entries.map { entry in
        var record = entry.record
        record.isRevoked = true
        return WaitingEntry(record: record, changes: entry.changes)
      })
  }

  var readableChanges: [ObjectChange<Object>] { entries.flatMap { (try? $0.changes.get()) ?? [] } }
}

/// Reads entries with the present declaration.
///
/// It compares each schema of entries with the declaration once.
struct EntryReader<Object: PersistentRecord> {
  private let journal: Journal<Object>
  private var fits: [String?: EntryFit<Object>] = [:]

  init(_ journal: Journal<Object>) { self.journal = journal }

  mutating func entry(_ record: OutboxRecord) -> WaitingEntry<Object> {
    do {
      return WaitingEntry(record: record, changes: .success(try changes(of: record)))
    } catch {
      return WaitingEntry(record: record, changes: .failure(PersistenceError(of: error)))
    }
  }

  /// The changes of an entry.
  ///
  /// - Throws: `schemaMismatch` if the declaration cannot read them.
  mutating func changes(of entry: OutboxRecord) throws -> [ObjectChange<Object>] {
    let fit = try fit(of: entry.schemaName)
    return try LayerCoding.value([OutboxChange].self, entry.changes).map { try $0.change(fit) }
  }

  private mutating func fit(of schemaName: String?) throws -> EntryFit<Object> {
    if let fit = fits[schemaName] { return fit }
    let schema = try schemaName.flatMap {
      try LayerSchemas.schema(named: $0, of: journal.model, in: journal.repository)
    }
    let fit = try EntryFit<Object>(schema, in: journal.repository)
    fits[schemaName] = fit
    return fit
  }
}
