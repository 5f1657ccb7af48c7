import PersistenceDriver

/// What some commits, one after another, have changed among the records that fit a condition: keys, as long as there
/// are not too many.
package struct KeyChanges: Sendable {
  /// Whether a record fitted before all of the changes, and after them.
  package struct Entry: Sendable, Equatable {
    package var fittedBefore: Bool
    package var fitsNow: Bool

    package init(fittedBefore: Bool, fitsNow: Bool) {
      self.fittedBefore = fittedBefore
      self.fitsNow = fitsNow
    }
  }

  /// The keys of what changed, where that is known.
  package private(set) var entries: [RecordKey: Entry] = [:]

  /// Whether something changed that is not told by ``entries``.
  package private(set) var isUnknown = false

  private let limit: Int

  /// Makes an empty record of changes.
  ///
  /// - Parameter limit: How many keys are remembered at most.
  package init(limit: Int) { self.limit = limit }

  /// Whether nothing changed: also where it was changed back, as far as keys go.
  package var isEmpty: Bool { entries.isEmpty && !isUnknown }

  /// Forgets the keys: anything may have changed.
  package mutating func lose() {
    entries = [:]
    isUnknown = true
  }

  /// Notes that a record was written or deleted.
  ///
  /// - Parameters:
  ///   - key: Its key.
  ///   - fitted: Whether there was one that fitted before.
  ///   - fits: Whether there is one that fits now.
  /// - Returns: What was known of the key, for ``restore(_:for:)``.
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

  /// Undoes what ``note(_:fitted:fits:)`` did, the last one first.
  package mutating func restore(_ entry: Entry?, for key: RecordKey) {
    if !isUnknown { entries[key] = entry }
  }

  /// Adds the changes of a later commit.
  package mutating func merge(_ later: KeyChanges) {
    if later.isUnknown { return lose() }
    for (key, entry) in later.entries { note(key, fitted: entry.fittedBefore, fits: entry.fitsNow) }
  }
}
