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

  /// The number of entries that are read at once, since each may be large.
  private static var chunk: Int { 16 }

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

  /// Makes a batch of the first waiting entries, as many as the limits allow; nil for one entry.
  func claim(upTo limits: BatchLimits?) throws -> OutboxBatch<Object>? {
    switch try firstBatch() {
    case .nothing: return nil
    case .claimed(let batch): return batch
    case .unclaimed: break
    }
    var reader = EntryReader(self)
    var room = BatchRoom(limits)
    var entries: [WaitingEntry<Object>] = []
    var number = Int.min
    reading: while room.isOpen || entries.isEmpty {
      let records = try waitingEntries(after: number, limit: min(Self.chunk, room.limit))
      for record in records {
        let entry = reader.entry(record)
        guard record.isUnsent == true, room.take(entry) || entries.isEmpty else { break reading }
        entries.append(entry)
        number = record.number
        if !room.isOpen { break reading }
      }
      if records.isEmpty { break }
    }
    return try claim(entries)
  }

  /// Makes a batch of entries that no request has contained.
  ///
  /// - Returns: The batch, without entries that no longer wait; nil if none does, or if another process has claimed or
  ///   changed one.
  func claim(_ entries: [WaitingEntry<Object>]) throws -> OutboxBatch<Object>? {
    var claimed: [WaitingEntry<Object>] = []
    for entry in entries {
      guard let record = try repository.find(OutboxRecord.self, id: entry.record.primaryKey),
        !record.isSetAside
      else { continue }
      guard record.batch == entry.record.batch, record.joint == nil,
        record.isUnsent == true || entries.count == 1
      else { return nil }
      claimed.append(WaitingEntry(record: record, changes: entry.changes))
    }
    guard let last = claimed.last else { return nil }
    let joint = claimed.count > 1 ? UUID() : nil
    for index in claimed.indices where claimed[index].record.isUnsent == true {
      var record = claimed[index].record
      record.isUnsent = nil
      if let joint { (record.joint, record.jointEnd) = (joint, last.record.number) }
      try repository.save(record)
      claimed[index] = WaitingEntry(record: record, changes: claimed[index].changes)
    }
    return joint.map { OutboxBatch(joint: $0, claimed) } ?? claimed.first.map { OutboxBatch(alone: $0) }
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
    for var record in try jointEntries(of: entry) {
      record.separate()
      try repository.save(record)
    }
  }
}

/// The room for further entries in a joint batch.
struct BatchRoom {
  private var entries: Int
  private var changes: Int
  private var bytes: Int

  init(_ limits: BatchLimits?) {
    entries = limits == nil ? 1 : Journal<OutboxRecord>.jointLimit
    (changes, bytes) = (limits?.changes ?? 1, limits?.bytes ?? 0)
  }

  /// The maximum number of further entries, at least 1.
  var limit: Int { max(1, min(entries, changes)) }

  var isOpen: Bool { entries > 0 && changes > 0 && bytes > 0 }

  /// Takes the room for an entry, if there is enough.
  ///
  /// The form in the outbox has a name and a kind for each value, and is longer than that of a request.
  mutating func take<Object>(_ entry: WaitingEntry<Object>) -> Bool {
    guard isOpen, case .success(let found) = entry.changes, found.count <= changes,
      entry.record.changes.count <= bytes
    else {
      entries = 0
      return false
    }
    entries -= 1
    changes -= found.count
    bytes -= entry.record.changes.count
    return true
  }
}
