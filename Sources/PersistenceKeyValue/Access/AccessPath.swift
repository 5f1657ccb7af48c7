import PersistenceDriver

/// A plan as ranges of stored keys.
struct AccessPath: Sendable {
  let space: KeySpace
  let form: KeyForm
  /// The index that the path reads; nil if it reads records.
  let index: ModelBinding.Index?
  /// The ranges, ascending and disjoint.
  private(set) var ranges: [ByteRange]
  let isReversed: Bool
  /// Whether a range is wider than the plan's because a key in it was cut; the whole predicate is evaluated
  /// then.
  private(set) var isWidened = false

  /// Encodes the values of a plan, in a buffer that the caller may use again.
  init(_ plan: AccessPlan, _ binding: ModelBinding, longestKey: Int, in key: ByteBuffer = ByteBuffer()) throws
  {
    self.init(plan.path, isReversed: plan.isReversed, binding, longestKey: longestKey)
    let prefix = index?.prefix ?? binding.prefix
    for range in plan.ranges {
      key.clear()
      key.append(prefix)
      for value in range.equals { try KeyCodec.append(value: value, to: key) }
      ranges.append(try encoded(range.next, behind: range.equals.count, of: plan.indexedComponents, key))
    }
    if let anchor = plan.anchor { try clip(to: anchor, prefix) }
    ranges.removeAll(where: \.isEmpty)
    merge()
  }

  /// Encodes the values of a request, whose known plan has one range with these bounds.
  init(
    _ outline: PlanOutline, _ next: AccessPlan.Next, of request: FetchRequest, _ binding: ModelBinding,
    longestKey: Int, in key: ByteBuffer
  ) throws {
    self.init(outline.path, isReversed: outline.isReversed, binding, longestKey: longestKey)
    key.clear()
    key.append(index?.prefix ?? binding.prefix)
    try outline.appendEquals(of: request, to: key)
    let only = try encoded(next, behind: outline.equalComponents, of: outline.indexedComponents, key)
    // A list of one is made faster than an empty one grows.
    ranges = only.isEmpty ? [] : [only]
  }

  /// The path without its ranges.
  private init(_ path: AccessPlan.Path, isReversed: Bool, _ binding: ModelBinding, longestKey: Int) {
    self.isReversed = isReversed
    ranges = []
    switch path {
    case .scan, .primaryKey:
      (space, form, index) = (.records, .records(longest: longestKey), nil)
    case .index(let number):
      (space, form, index) = (.indexes, .entries(longest: longestKey), binding.readable[number])
    }
  }

  /// The bytes of a range, given the encoded equal components and their number, and that of the indexed ones.
  private mutating func encoded(
    _ next: AccessPlan.Next, behind equals: Int, of indexed: Int, _ key: ByteBuffer
  ) throws -> ByteRange {
    if case .all = next, index != nil, equals >= indexed, key.count > form.runLength {
      // The values are longer than a stored key. Their entries share the digest of exactly these values.
      let lower = key.array
      let isExact = equals == indexed && form.storeEntryPrefix(key)
      let prefix = isExact ? key.array : Array(lower.prefix(form.runLength))
      isWidened = true
      return ByteRange(lower: prefix, upper: ByteOrder.next(after: prefix))
    }
    if case .prefix(let text) = next {
      KeyCodec.append(textBeginningWith: text, to: key)
      let lower = key.array
      return widened(ByteRange(lower: lower, upper: ByteOrder.next(after: lower)))
    }
    let start = key.count
    try next.appendLower(to: key)
    let lower = key.array
    key.truncate(to: start)
    try next.appendUpper(to: key)
    return widened(ByteRange(lower: lower, upper: key.array))
  }

  /// The smallest enclosing range whose bounds are no longer than the part that cut keys keep.
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
    let key = prefix + (try KeyCodec.bytes(of: anchor))
    let beyond = widened(
      isReversed ? ByteRange(lower: [], upper: key) : ByteRange(lower: key + [KeyCodec.afterAll]))
    ranges = ranges.map { $0.clamped(to: beyond) }
  }

  /// The ranges, of which those in one run are all of the run: by their digests, they have another order than their values.
  private func wholeRuns() -> [ByteRange] {
    var counts: [[UInt8]: Int] = [:]
    for range in ranges where range.lower.count > form.runLength {
      counts[Array(range.lower.prefix(form.runLength)), default: 0] += 1
    }
    return ranges.map { range in
      let run = Array(range.lower.prefix(form.runLength))
      guard range.lower.count > form.runLength, counts[run, default: 0] > 1 else { return range }
      return ByteRange(lower: run, upper: ByteOrder.next(after: run))
    }
  }

  /// Merges ranges that overlap after widening, so that no entry occurs twice.
  private mutating func merge() {
    guard isWidened, ranges.count > 1 else { return }
    var merged: [ByteRange] = []
    for range in wholeRuns().sorted(by: { ByteOrder.compare($0.lower, $1.lower) < 0 }) {
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

extension AccessPlan.Next {
  /// Makes a key with the equal components the first one of a range, which is not that of a prefix.
  func appendLower(to key: ByteBuffer) throws {
    guard case .bounds(let lower?, _) = self else { return }
    try KeyCodec.append(value: lower.value, to: key)
    // Behind all keys that begin with the value.
    if !lower.isInclusive { key.append(KeyCodec.afterAll) }
  }

  /// Makes a key with the equal components the first one behind a range, which is not that of a prefix.
  func appendUpper(to key: ByteBuffer) throws {
    guard case .bounds(_, let upper?) = self else { return key.append(KeyCodec.afterAll) }
    try KeyCodec.append(value: upper.value, to: key)
    if upper.isInclusive { key.append(KeyCodec.afterAll) }
  }
}

extension AccessPath {
  /// Calls a closure for each entry of the path in the store's order, until it returns false.
  func forEach(_ reader: any ByteReader, _ body: (OrderedEntry) throws -> Bool) throws {
    let cursor = try reader.acquireCursor(in: space)
    defer { reader.release(cursor) }
    var passed = 0
    for range in ranges {
      var entry = try range.lower.withUnsafeBytes { try cursor.seek($0) }
      while let found = entry, range.isBelowUpper(found.key) {
        guard try body(found) else { return }
        passed &+= 1
        // A condition with thousands of searches takes milliseconds for each entry.
        if passed & 0x3F == 0 { try ReadInterruption.check() }
        entry = try cursor.next()
      }
    }
  }

  /// The number of entries in the path, counted up to a limit.
  func count(_ reader: any ByteReader, limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    var count = 0
    try forEach(reader) { _ in
      count += 1
      return count < limit
    }
    return count
  }
}

/// A half-open range of stored keys.
struct ByteRange: Sendable, Hashable {
  var lower: [UInt8]
  /// The first key after the range; nil if the range is unbounded.
  var upper: [UInt8]?

  /// Whether no key can lie in the range.
  var isEmpty: Bool { upper.map { ByteOrder.compare(lower, $0) >= 0 } ?? false }

  /// Whether a key is less than the upper bound.
  func isBelowUpper(_ key: UnsafeRawBufferPointer) -> Bool {
    upper?.withUnsafeBytes { TotalOrder.compare(key, $0) < 0 } ?? true
  }

  func clamped(to other: ByteRange) -> ByteRange {
    let lower = ByteOrder.compare(lower, other.lower) >= 0 ? lower : other.lower
    guard let first = upper, let second = other.upper else {
      return ByteRange(lower: lower, upper: upper ?? other.upper)
    }
    return ByteRange(lower: lower, upper: ByteOrder.compare(first, second) <= 0 ? first : second)
  }
}
