import Foundation
import PersistenceCore

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

  /// Whether the batch contains only earlier changes of its entry.
  var isReplaced: Bool { isJoint && entries.allSatisfy(\.record.isReplaced) }

  /// The entry of a batch that is not joint.
  var alone: WaitingEntry<Object>? { isJoint ? nil : entries.first }

  /// The batch after its revocation.
  var revoked: OutboxBatch {
    OutboxBatch(
      joint: id,
      entries.map { entry in
        var entry = entry
        entry.record.isRevoked = true
        return entry
      })
  }

  var readableChanges: [ObjectChange<Object>] { entries.flatMap { (try? $0.changes.get()) ?? [] } }
}
