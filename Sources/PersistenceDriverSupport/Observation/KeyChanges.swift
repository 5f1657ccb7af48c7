import PersistenceDriver

/// The coalesced changes of consecutive commits to the records that match a condition, by key, up to a limit.
package struct KeyChanges: Sendable {
  /// Whether a record matched before all changes, and after them.
  package struct Entry: Sendable, Equatable {
    package var fittedBefore: Bool
    package var fitsNow: Bool

    package init(fittedBefore: Bool, fitsNow: Bool) {
      self.fittedBefore = fittedBefore
      self.fitsNow = fitsNow
    }
  }

  /// The known changes by key.
  package private(set) var entries: [RecordKey: Entry] = [:]

  /// Whether there are changes beyond ``entries``.
  package private(set) var isUnknown = false

  private let limit: Int

  /// Creates an empty record of changes.
  ///
  /// - Parameter limit: The maximum number of keys to track.
  package init(limit: Int) { self.limit = limit }

  /// Whether there are no changes; coalescing may remove all of them.
  package var isEmpty: Bool { entries.isEmpty && !isUnknown }

  /// Discards the keys: any record may have changed.
  package mutating func lose() {
    entries = [:]
    isUnknown = true
  }

  /// Records that a record was written or deleted.
  ///
  /// - Parameters:
  ///   - key: Its key.
  ///   - fitted: Whether the record existed and matched before.
  ///   - fits: Whether the record exists and matches now.
  /// - Returns: The previous entry, for ``restore(_:for:)``.
  @discardableResult
  package mutating func note(_ key: RecordKey, fitted: Bool, fits: Bool) -> Entry? {
    guard !isUnknown else { return nil }
    let known = entries[key]
    let fittedBefore = known?.fittedBefore ?? fitted
    guard fittedBefore || fits else {
      if known != nil { entries[key] = nil }
      return known
    }
    entries[key] = Entry(fittedBefore: fittedBefore, fitsNow: fits)
    if entries.count > limit { lose() }
    return known
  }

  /// Reverts calls of ``note(_:fitted:fits:)``, the last one first.
  package mutating func restore(_ entry: Entry?, for key: RecordKey) {
    if !isUnknown { entries[key] = entry }
  }

  /// Adds the changes of a later commit.
  package mutating func merge(_ later: KeyChanges) {
    if later.isUnknown { return lose() }
    for (key, entry) in later.entries { note(key, fitted: entry.fittedBefore, fits: entry.fitsNow) }
  }
}
