import PersistenceDriver

/// Walks the entries of a path in the contract's order, from a place on.
///
/// The store's order is the contract's but within a run of cut keys (``KeyForm``), which is read whole and
/// sorted by full key. What it hands out is borrowed from the reader.
struct IndexCursor {
  private let path: AccessPath
  private let binding: ModelBinding
  private let reader: any ByteReader
  private let cursor: any ByteCursor
  /// Finds records by key; taken only where it is needed.
  private let records: (any ByteCursor)?

  /// Entries that were read ahead, of which those from `taken` up to `inside` lie in the current range and have
  /// not been looked at.
  private let ahead: UnsafeMutableBufferPointer<ByteEntry>
  private var taken = 0
  private var inside = 0
  /// How many entries the next reading ahead is for: few at first, since few may be wanted.
  private var stride = Self.firstStride
  /// Whether the next entry read ahead is handed out as it is, where its key is short: there is no run, and
  /// nothing to begin.
  private var isPlain = false

  /// Whether what was read ahead goes beyond the range.
  private var isBeyond = false

  private static let firstStride = 8
  private static let longestStride = 32

  private var range: Int
  private var start: Bookmark?
  private var isPositioned = false
  /// The end of the current range in the direction of the walk.
  private let limit: ByteBuffer
  private var hasLimit = false
  /// An entry that was read but not handed out.
  private var pending: ByteEntry?
  private var run: [ByteEntry] = []
  private var runIndex = 0
  private var runKey: [UInt8] = []
  /// Whether the run is the last of its range.
  private var endsRange = false

  /// Begins a walk; it is ended by ``end()``.
  init(_ path: AccessPath, _ binding: ModelBinding, reader: any ByteReader, from place: Bookmark) throws {
    self.path = path
    self.binding = binding
    self.reader = reader
    cursor = try reader.takeCursor(in: path.space)
    records = path.index == nil ? nil : try reader.takeCursor(in: .records)
    limit = reader.workspace.takeBuffer()
    ahead = .allocate(capacity: Self.longestStride)
    range = place.range
    start = place
  }

  func end() {
    reader.giveBack(cursor)
    reader.workspace.giveBack(limit)
    if let records { reader.giveBack(records) }
    ahead.deallocate()
  }

  /// The next entry; nil at the end.
  @inline(__always)
  mutating func next() throws -> ByteEntry? {
    if isPlain, taken < inside {
      let entry = ahead[taken]
      if !path.form.mayBeInRun(entry.key) {
        taken &+= 1
        return entry
      }
    }
    return try nextInAnyCase()
  }

  /// The next entry, which may be the first, lie in a run, or not have been read yet.
  private mutating func nextInAnyCase() throws -> ByteEntry? {
    isPlain = false
    if runIndex < run.count {
      defer { runIndex += 1 }
      return run[runIndex]
    }
    if let place = start, place.isRun {
      start = nil
      try resumeRun(place)
    } else {
      guard let entry = try nextStored() else { return nil }
      guard path.form.mayBeInRun(entry.key) else {
        if !run.isEmpty { forgetRun() }
        isPlain = pending == nil && !endsRange && start == nil
        return entry
      }
      try readRun(from: entry)
    }
    defer { runIndex += 1 }
    return run[runIndex]
  }

  /// Where the entry that was handed out last stands, in two numbers.
  var mark: EntryMark { EntryMark(range: range, skipped: run.isEmpty ? nil : runIndex - 1) }

  /// The place of an entry that was handed out, given its mark.
  func place(of entry: ByteEntry, _ mark: EntryMark) -> Bookmark {
    guard let skipped = mark.skipped else { return Bookmark(range: mark.range, key: [UInt8](entry.key)) }
    return Bookmark(
      range: mark.range, key: [UInt8](entry.key.prefix(path.form.runLength)), isRun: true, skipped: skipped)
  }

  /// The record that an entry stands for: its stored key and its bytes.
  func record(of entry: ByteEntry) throws -> ByteEntry {
    guard let records else { return entry }
    let key = reader.workspace.takeBuffer()
    defer { reader.workspace.giveBack(key) }
    try IndexEntry.appendRecordKey(of: entry, prefix: binding.prefix, to: key)
    guard let record = try records.find(key.bytes) else {
      throw PersistenceError.damaged("an index names a record that is not there")
        .at(model: binding.declared.name)
    }
    return record
  }
}

extension IndexCursor {
  /// Takes the bounds of the current range; false where there are no more ranges.
  private mutating func enterRange() -> Bool {
    guard range < path.ranges.count else { return false }
    let bounds = path.ranges[path.isReversed ? path.ranges.count - 1 - range : range]
    limit.clear()
    if path.isReversed { limit.append(bounds.lower) } else if let upper = bounds.upper { limit.append(upper) }
    hasLimit = path.isReversed || bounds.upper != nil
    return true
  }

  private var bounds: ByteRange { path.ranges[path.isReversed ? path.ranges.count - 1 - range : range] }

  private mutating func forgetRun() {
    run.removeAll()
    runIndex = 0
  }

  /// The next entry in the store's order, within the ranges.
  private mutating func nextStored() throws -> ByteEntry? {
    if let entry = pending {
      pending = nil
      return entry
    }
    if endsRange {
      endsRange = false
      leaveRange()
    }
    while true {
      if isPositioned {
        if let entry = try step() { return entry }
      } else {
        guard enterRange() else { return nil }
        let entry = try position()
        isPositioned = true
        if let entry, isInside(entry.key) { return entry }
      }
      leaveRange()
    }
  }

  private mutating func leaveRange() {
    range += 1
    isPositioned = false
    (taken, inside, stride, isBeyond) = (0, 0, Self.firstStride, false)
  }

  /// The next entry of the range in the store's order; nil where the range ends.
  private mutating func step() throws -> ByteEntry? {
    if taken == inside {
      guard !isBeyond else { return nil }
      let room = UnsafeMutableBufferPointer(rebasing: ahead[..<stride])
      let count = try cursor.read(room, isReversed: path.isReversed)
      stride = min(Self.longestStride, stride * 4)
      taken = 0
      inside = count
      // Keys are in order, so that the last one speaks for all of them.
      while inside > 0, !isInside(ahead[inside - 1].key) { inside -= 1 }
      isBeyond = inside < count
      guard inside > 0 else { return nil }
    }
    defer { taken += 1 }
    return ahead[taken]
  }

  @inline(__always)
  private func isInside(_ key: UnsafeRawBufferPointer) -> Bool {
    guard hasLimit else { return true }
    let order = TotalOrder.compare(key, limit.bytes)
    return path.isReversed ? order >= 0 : order < 0
  }

  /// Goes to where the walk of a range begins.
  private mutating func position() throws -> ByteEntry? {
    let place = start
    start = nil
    guard let key = place?.key else {
      return path.isReversed ? try before(bounds.upper) : try seek(bounds.lower)
    }
    guard let entry = try seek(key), entry.key.elementsEqual(key) else { throw lost }
    return entry
  }

  /// Reads a run again, and goes to a place within it; what lies outside the range is left out as it was before.
  private mutating func resumeRun(_ place: Bookmark) throws {
    guard let key = place.key, enterRange() else { throw lost }
    let first: ByteEntry?
    if path.isReversed {
      let whole = ByteRange(lower: [], upper: ByteOrder.next(after: key))
      first = try before(whole.clamped(to: bounds).upper)
    } else {
      first = try seek(ByteOrder.compare(key, bounds.lower) >= 0 ? key : bounds.lower)
    }
    isPositioned = true
    guard let first, isInside(first.key) else { throw lost }
    try readRun(from: first)
    guard place.skipped < run.count else { throw lost }
    runIndex = place.skipped
  }

  private var lost: PersistenceError {
    PersistenceError.damaged("a place in a result is gone").at(model: binding.declared.name)
  }

  private func seek(_ key: [UInt8]) throws -> ByteEntry? { try key.withUnsafeBytes { try cursor.seek($0) } }

  /// The last entry below a key; the last of all where there is none.
  private func before(_ key: [UInt8]?) throws -> ByteEntry? {
    guard let key else { return try cursor.last() }
    return try seek(key) == nil ? try cursor.last() : try cursor.previous()
  }

  /// Reads the run that begins with an entry; one in which no key is cut stays in the store's order.
  private mutating func readRun(from first: ByteEntry) throws {
    forgetRun()
    runKey = [UInt8](first.key.prefix(path.form.runLength))
    var entries = [first]
    var isCut = path.form.isCut(first.key)
    var isAtEnd = true
    while let entry = try step() {
      guard entry.key.starts(with: runKey) else {
        pending = entry
        isAtEnd = false
        break
      }
      isCut = isCut || path.form.isCut(entry.key)
      entries.append(entry)
    }
    // Places within the run go on naming this range until it has been handed out.
    endsRange = isAtEnd
    guard isCut else { return run = entries }
    var order = RunOrder(path, binding, reader)
    run = try order.sorted(entries, record: record)
  }
}
