import PersistenceDriver

/// The coalesced changes of consecutive commits to the records that match a condition, by key, up to a limit.
package struct KeyChanges: Sendable {
  /// Whether a record matched before all changes, and after them.
  package struct Entry: Sendable, Equatable {
    package var matchedBefore: Bool
    package var matchesNow: Bool

    package init(matchedBefore: Bool, matchesNow: Bool) {
      (self.matchedBefore, self.matchesNow) = (matchedBefore, matchesNow)
    }
  }

  /// The known changes by key.
  package private(set) var entries: [RecordKey: Entry] = [:]

  /// Whether there are changes beyond ``entries``.
  package private(set) var isUnknown = false

  private let limit: Int
  private let keepsUndone: Bool

  /// Creates an empty record of changes.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of keys.
  ///   - keepsUndone: Whether to keep the key of a record that one commit inserted and a later one deleted. Somebody who
  ///     reads the store at any time may have seen such a record.
  package init(limit: Int, keepsUndone: Bool = false) {
    (self.limit, self.keepsUndone) = (limit, keepsUndone)
  }

  /// Whether there are no changes; coalescing may remove all of them.
  package var isEmpty: Bool { entries.isEmpty && !isUnknown }

  /// Discards the keys: any record may have changed.
  package mutating func discardKeys() {
    entries = [:]
    isUnknown = true
  }

  /// Records that a record was written or deleted, and returns the previous entry for ``restore(_:for:)``.
  @discardableResult
  package mutating func record(_ key: RecordKey, matchedBefore: Bool, matchesNow: Bool) -> Entry? {
    guard !isUnknown else { return nil }
    let known = entries[key]
    let matchedBefore = known?.matchedBefore ?? matchedBefore
    guard matchedBefore || matchesNow || (keepsUndone && known != nil) else {
      if known != nil { entries[key] = nil }
      return known
    }
    entries[key] = Entry(matchedBefore: matchedBefore, matchesNow: matchesNow)
    if entries.count > limit { discardKeys() }
    return known
  }

  /// Reverts calls of ``record(_:matchedBefore:matchesNow:)``, the last one first.
  package mutating func restore(_ entry: Entry?, for key: RecordKey) {
    if !isUnknown { entries[key] = entry }
  }

  /// Adds the changes of a later commit.
  package mutating func merge(_ later: KeyChanges) {
    if later.isUnknown { return discardKeys() }
    for (key, entry) in later.entries {
      record(key, matchedBefore: entry.matchedBefore, matchesNow: entry.matchesNow)
    }
  }
}
