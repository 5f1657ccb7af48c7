import PersistenceDriver

/// The coalesced changes of commits, some of which ran at the same time, added in the order of their numbers.
///
/// A transaction that saw another one has a greater number. Two that wrote one record without seeing each other can only
/// be a deletion, and after it an insertion that began before the deletion was committed.
struct ConcurrentChanges {
  private(set) var all: KeyChanges
  /// The transactions that wrote each key last.
  private var writers: [RecordKey: UInt64] = [:]

  private static let insertion = KeyChanges.Entry(matchedBefore: false, matchesNow: true)
  private static let deletion = KeyChanges.Entry(matchedBefore: true, matchesNow: false)

  init(limit: Int) { all = KeyChanges(limit: limit) }

  /// Adds the changes of a commit with a greater number than those before, or of a later part of the last one.
  mutating func add(_ changes: KeyChanges, of transaction: NumberedTransaction) {
    if changes.isUnknown { return all.discardKeys() }
    for (key, entry) in changes.entries {
      defer { writers[key] = transaction.number }
      guard let writer = writers[key], writer != transaction.number, !transaction.sees(writer) else {
        all.record(key, matchedBefore: entry.matchedBefore, matchesNow: entry.matchesNow)
        continue
      }
      let pair = [all.entries[key], entry]
      guard pair == [Self.insertion, Self.deletion] || pair == [Self.deletion, Self.insertion] else {
        return all.discardKeys()
      }
      // The insertion came last, whichever number is greater.
      all.restore(KeyChanges.Entry(matchedBefore: true, matchesNow: true), for: key)
    }
  }
}
