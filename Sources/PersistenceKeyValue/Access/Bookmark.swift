/// Where a walk can be taken up again in the same snapshot.
struct Bookmark: Sendable {
  /// The range, by number in the direction of the walk.
  var range = 0
  /// The stored key of an entry, or what all entries of a run begin with; nil for the range's beginning.
  var key: [UInt8]?
  /// Whether the key is a run's.
  var isRun = false
  /// How many entries of the run come before the place.
  var skipped = 0
}

/// What else than an entry itself it takes to find it again: the range, and how many entries of its run come
/// before it.
struct EntryMark {
  var range: Int
  var skipped: Int?
}
