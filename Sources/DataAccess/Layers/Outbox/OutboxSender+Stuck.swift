import PersistenceCore
import PersistenceDriver

extension OutboxSender {
  /// The number of failures after which entries of other objects may pass an entry.
  static var failuresBeforeOvertaking: Int { 3 }

  /// The number of entries that one pass looks at behind a stuck one, since each is decoded.
  private static var overtakingLimit: Int { 256 }

  /// The number of entries that may fail one after another while others pass the first one.
  private static var failuresInARow: Int { 3 }

  /// Whether others have passed the first entry, so that its error is no sign of the connection.
  func isStuckAlone() async throws(PersistenceError) -> Bool {
    try await layer.use(writes: false) { journal in
      try journal.entries(isSetAside: false, limit: 1).first?.failuresAlone ?? 0 > 0
    }
  }

  /// Sends the entries behind a stuck one that change other objects.
  ///
  /// A proxy may refuse one body for ever, and must not stop the queue. The first entry that passes shows that the
  /// remote layer accepts writes; until then, one entry is tried in each pass. A stuck entry that has failed often
  /// enough while others passed is set aside.
  ///
  /// It returns whether the stuck entry was set aside, so that sending continues.
  func overtake(_ stuck: WaitingEntry<Object>, after error: PersistenceError) async throws(PersistenceError)
    -> Bool
  {
    guard case .setAside(let limit) = options.stuckEntries, isAttempt, error.code != .cancelled,
      case .success(let changes) = stuck.changes
    else { return false }
    let entries = try await layer.use(writes: false) { journal -> [WaitingEntry<Object>] in
      guard let current = try journal.current(stuck.record),
        current.failures ?? 0 >= Self.failuresBeforeOvertaking
      else { return [] }
      return try journal.entries(isSetAside: false, limit: Self.overtakingLimit).map {
        WaitingEntry($0, in: journal)
      }
    }
    guard entries.first?.record.batch == stuck.record.batch else { return false }
    // The entry with the fewest failures first: others may be stuck too.
    let candidates = Self.independent(entries)
    guard let probe = candidates.min(by: { Self.rank($0) < Self.rank($1) }), await passes(probe) else {
      return false
    }
    hasOvertaken = true
    try await sendIndependent(entries, besides: probe)
    let isOver = try await layer.use { journal -> Bool in
      guard var current = try journal.current(stuck.record) else { return false }
      current.failuresAlone = (current.failuresAlone ?? 0) + 1
      try journal.repository.save(current)
      return current.failuresAlone ?? 0 >= limit
    }
    guard isOver else { return false }
    try await setAside(stuck.record, changes, error)
    return true
  }

  private static func rank(_ entry: WaitingEntry<Object>) -> (Int, Int) {
    (entry.record.failures ?? 0, entry.record.number)
  }

  /// The entries behind the first one of which no earlier entry changes an object.
  private static func independent(_ entries: [WaitingEntry<Object>]) -> [WaitingEntry<Object>] {
    var blocked: Set<RecordKey> = []
    var found: [WaitingEntry<Object>] = []
    for entry in entries {
      let keys = entry.keys
      if !found.isEmpty || !blocked.isEmpty, !keys.isEmpty, blocked.isDisjoint(with: keys) {
        found.append(entry)
      }
      blocked.formUnion(keys)
    }
    return found
  }

  /// Sends each entry whose objects no earlier waiting entry changes.
  private func sendIndependent(_ entries: [WaitingEntry<Object>], besides sent: WaitingEntry<Object>)
    async throws(PersistenceError)
  {
    var blocked = Set(entries.first?.keys ?? [])
    var failures = 0
    for entry in entries.dropFirst() where entry.record.batch != sent.record.batch {
      let keys = entry.keys
      if !keys.isEmpty, blocked.isDisjoint(with: keys), await passes(entry) {
        failures = 0
        continue
      }
      if blocked.isDisjoint(with: keys) { failures += 1 }
      blocked.formUnion(keys)
      if failures >= Self.failuresInARow || Task.isCancelled { return }
    }
  }

  /// Whether an entry that is not the first was sent.
  private func passes(_ entry: WaitingEntry<Object>) async -> Bool {
    do throws(PersistenceError) {
      try await send(entry, isFirst: false)
      return true
    } catch {
      return false
    }
  }
}
