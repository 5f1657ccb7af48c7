import Foundation
import PersistenceCore

/// Waiting entries that are sent in one request.
///
/// A joint batch has an id of its own, which its entries record before it is sent. After a kill or a lost answer, the
/// same entries are sent again under this id. They join others, or are sent alone, only when it is certain that the
/// remote layer never applies that batch.
extension Journal {
  /// The maximum number of entries of a joint batch: they are among so many first waiting ones.
  static var jointLimit: Int { 256 }

  /// The first waiting entries.
  enum FirstBatch {
    case nothing
    /// A batch that may have been sent before.
    case claimed(OutboxBatch<Object>)
    /// An entry that no request has contained; ``claim(upTo:)`` makes a batch of it and those after it.
    case unclaimed
  }

  func firstBatch() throws -> FirstBatch {
    guard let first = try waitingEntries(limit: 1).first else { return .nothing }
    var reader = EntryReader(self)
    if let joint = first.joint {
      return .claimed(OutboxBatch(joint: joint, try jointEntries(of: first).map { reader.entry($0) }))
    }
    return first.isUnsent == true ? .unclaimed : .claimed(OutboxBatch(alone: reader.entry(first)))
  }

  /// The waiting entries of the joint batch that contains an entry.
  private func jointEntries(of entry: OutboxRecord) throws -> [OutboxRecord] {
    guard let joint = entry.joint else { return [] }
    return try waitingEntries(upTo: entry.jointEnd ?? .max, limit: Self.jointLimit)
      .filter { $0.joint == joint }
  }

  /// Records that the joint batch of an entry must be revoked before one of its entries is sent again.
  func revokeJoint(of entry: OutboxRecord) throws {
    for var record in try jointEntries(of: entry) where record.isRevoked != true {
      record.isRevoked = true
      try repository.save(record)
    }
  }

  /// Separates the entries of a joint batch that the remote layer never applies.
  func separateJoint(of entry: OutboxRecord) throws {
    for record in try jointEntries(of: entry) { try separate(record) }
  }

  /// Makes an entry one that no request has contained.
  func separate(_ entry: OutboxRecord) throws {
    var record = entry
    record.separate()
    try repository.save(record)
  }
}
