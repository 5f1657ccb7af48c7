import Foundation
import PersistenceCore

extension Journal {
  /// The number of entries that are read at once, since each may be large.
  private static var chunk: Int { 16 }

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
        guard record.isUnsent == true, record.joint == nil, room.take(entry) || entries.isEmpty else {
          break reading
        }
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
      var current = entry
      current.record = record
      claimed.append(current)
    }
    guard let last = claimed.last else { return nil }
    let joint = claimed.count > 1 ? UUID() : nil
    for index in claimed.indices where claimed[index].record.isUnsent == true {
      var record = claimed[index].record
      record.isUnsent = nil
      if let joint { (record.joint, record.jointEnd) = (joint, last.record.number) }
      try repository.save(record)
      claimed[index].record = record
    }
    return joint.map { OutboxBatch(joint: $0, claimed) } ?? claimed.first.map { OutboxBatch(alone: $0) }
  }
}
