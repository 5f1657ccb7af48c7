import PersistenceDriver
import PersistencePlanner

/// A plan in terms of stored keys.
struct AccessPath: Sendable {
  let space: ByteSpace
  let form: KeyForm
  /// The index, where the path is one.
  let index: ModelBinding.Index?
  /// Ascending and apart from each other.
  private(set) var ranges: [ByteRange]
  let isReversed: Bool
  /// Whether a range is wider than the plan's, because a key of it had to be cut: then the whole predicate is
  /// evaluated.
  private(set) var isWidened = false

  init(_ plan: AccessPlan, _ binding: ModelBinding, longestKey: Int) throws {
    isReversed = plan.isReversed
    let prefix: [UInt8]
    switch plan.path {
    case .scan, .primaryKey:
      (space, form, index) = (.records, .records(longest: longestKey), nil)
      prefix = binding.prefix
    case .index(let number):
      (space, form, index) = (.indexes, .entries(longest: longestKey), binding.indexes[number])
      prefix = binding.indexes[number].prefix
    }
    ranges = []
    let key = ByteBuffer()
    for range in plan.ranges {
      key.clear()
      key.append(prefix)
      for value in range.equals { try KeyCodec.append(value: value, to: key) }
      try add(range, key, indexed: plan.indexedComponents)
    }
    if let anchor = plan.anchor { try clip(to: anchor, prefix) }
    ranges.removeAll(where: \.isEmpty)
    merge()
  }

  /// Adds the bytes of a range whose equal components have been written.
  private mutating func add(_ range: AccessPlan.Range, _ key: ByteBuffer, indexed: Int) throws {
    let start = key.count
    var lower = key.array
    var upper: [UInt8]? = lower + [KeyCodec.afterAll]
    switch range.next {
    case .all:
      if index != nil, range.equals.count >= indexed, key.count > form.runLength {
        // The values are long: their entries lie together behind the digest of exactly these values.
        key.clear()
        key.append(lower)
        let isExact = range.equals.count == indexed && form.storeEntryPrefix(key)
        isWidened = true
        lower = isExact ? key.array : Array(lower.prefix(form.runLength))
        ranges.append(ByteRange(lower: lower, upper: ByteOrder.next(after: lower)))
        return
      }
    case .prefix(let text):
      KeyCodec.append(textBeginningWith: text, to: key)
      lower = key.array
      upper = ByteOrder.next(after: lower)
    case .bounds(let low, let high):
      if let low {
        try KeyCodec.append(value: low.value, to: key)
        lower = key.array + (low.isInclusive ? [] : [KeyCodec.afterAll])
        key.truncate(to: start)
      }
      if let high {
        try KeyCodec.append(value: high.value, to: key)
        upper = key.array + (high.isInclusive ? [KeyCodec.afterAll] : [])
        key.truncate(to: start)
      }
    }
    ranges.append(widened(ByteRange(lower: lower, upper: upper)))
  }

  /// A range whose ends are no longer than what every stored key has of its full one.
  private mutating func widened(_ range: ByteRange) -> ByteRange {
    var range = range
    if range.lower.count > form.runLength {
      range.lower = Array(range.lower.prefix(form.runLength))
      isWidened = true
    }
    if let upper = range.upper, upper.count > form.runLength {
      range.upper = ByteOrder.next(after: upper.prefix(form.runLength))
      isWidened = true
    }
    return range
  }

  private mutating func clip(to anchor: [PersistentValue], _ prefix: [UInt8]) throws {
    let place = prefix + (try KeyCodec.bytes(of: anchor))
    let beyond = widened(
      isReversed
        ? ByteRange(lower: [], upper: place)
        : ByteRange(lower: place + [KeyCodec.afterAll], upper: nil))
    ranges = ranges.map { $0.clamped(to: beyond) }
  }

  /// Makes ranges that were widened until they overlap one, so that no entry is met twice.
  private mutating func merge() {
    guard isWidened, ranges.count > 1 else { return }
    var merged: [ByteRange] = []
    for range in ranges.sorted(by: { ByteOrder.compare($0.lower, $1.lower) < 0 }) {
      guard let last = merged.last, last.upper.map({ ByteOrder.compare(range.lower, $0) < 0 }) ?? true else {
        merged.append(range)
        continue
      }
      if let upper = last.upper, range.upper.map({ ByteOrder.compare($0, upper) > 0 }) ?? true {
        merged[merged.count - 1].upper = range.upper
      }
    }
    ranges = merged
  }
}
