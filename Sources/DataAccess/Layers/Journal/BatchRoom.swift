import Foundation

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
