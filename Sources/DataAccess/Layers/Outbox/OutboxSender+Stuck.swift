import Foundation
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
      try journal.waitingEntries(limit: 1).first?.failuresAlone ?? 0 > 0
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
      stuck.isReadable
    else { return false }
    let entries = try await layer.use(writes: false) { journal -> [WaitingEntry<Object>] in
      guard let current = try journal.current(stuck.record),
        current.failures ?? 0 >= Self.failuresBeforeOvertaking
      else { return [] }
      var reader = EntryReader(journal)
      return try journal.waitingEntries(limit: Self.overtakingLimit).map { reader.entry($0) }
    }
    guard entries.first?.record.batch == stuck.record.batch, let probe = Self.probe(entries),
      await isReachable(), await passes(probe)
    else { return false }
    hasOvertaken = true
    try await sendIndependent(entries, besides: Set(probe.map(\.record.batch)))
    let isOver = try await layer.use { journal -> Bool in
      guard var current = try journal.current(stuck.record) else { return false }
      current.failuresAlone = (current.failuresAlone ?? 0) + 1
      try journal.repository.save(current)
      return current.failuresAlone ?? 0 >= limit
    }
    guard isOver else { return false }
    try await setAside(stuck.record, stuck.allKeys, error)
    return true
  }

  /// Whether the remote layer accepts batches, as far as an empty one tells.
  ///
  /// While it is out of reach, no entry is claimed, since a claimed one no longer joins others.
  private func isReachable() async -> Bool {
    guard remote.batchLimits != nil else { return true }
    do throws(PersistenceError) {
      _ = try await apply([], id: UUID())
      return true
    } catch {
      return false
    }
  }

  /// The entries to try first: those of a joint batch with unknown outcome, or the entry with the fewest failures, since
  /// others may be stuck too.
  private static func probe(_ entries: [WaitingEntry<Object>]) -> [WaitingEntry<Object>]? {
    if let joint = entries.lazy.compactMap(\.record.joint).first {
      return entries.filter { $0.record.joint == joint }
    }
    return independent(entries).min { rank($0) < rank($1) }.map { [$0] }
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

  /// Sends the entries whose objects no earlier waiting entry changes.
  private func sendIndependent(_ entries: [WaitingEntry<Object>], besides sent: Set<UUID>)
    async throws(PersistenceError)
  {
    var blocked = Set(entries.first?.keys ?? [])
    var failures = 0
    var rest = entries.dropFirst().filter { !sent.contains($0.record.batch) }[...]
    while let entry = rest.first {
      let keys = entry.keys
      guard !keys.isEmpty, blocked.isDisjoint(with: keys) else {
        blocked.formUnion(keys)
        rest.removeFirst()
        continue
      }
      let run = joinable(rest, blocked)
      if run.count > 1, await passes(run) {
        let sent = Set(run.map(\.record.batch))
        // The entries between those of the batch were blocked before them.
        rest = rest.filter { !sent.contains($0.record.batch) }[...]
        failures = 0
        continue
      }
      // An entry of a rejected batch is sent alone.
      rest.removeFirst()
      if await passes([entry]) {
        failures = 0
        continue
      }
      failures += 1
      blocked.formUnion(keys)
      if failures >= Self.failuresInARow || Task.isCancelled { return }
    }
  }

  /// The first entries that one request may contain, without those whose objects an entry outside of it changes.
  private func joinable(
    _ entries: ArraySlice<WaitingEntry<Object>>, _ blocked: Set<RecordKey>
  ) -> [WaitingEntry<Object>] {
    var blocked = blocked
    var room = BatchRoom(limits)
    var run: [WaitingEntry<Object>] = []
    for entry in entries where room.isOpen {
      let keys = entry.keys
      if entry.record.isUnsent == true, entry.record.joint == nil, !keys.isEmpty,
        blocked.isDisjoint(with: keys), room.take(entry)
      {
        run.append(entry)
      } else {
        blocked.formUnion(keys)
      }
    }
    return run
  }

  /// Whether entries that are not the first were sent.
  private func passes(_ entries: [WaitingEntry<Object>]) async -> Bool {
    do throws(PersistenceError) {
      let batch: OutboxBatch<Object>?
      if let joint = entries.first?.record.joint {
        batch = OutboxBatch(joint: joint, entries)
      } else {
        batch = try await layer.use { try $0.claim(entries) }
      }
      guard let batch else { return false }
      try await send(batch, isFirst: false)
      return true
    } catch {
      return false
    }
  }
}
