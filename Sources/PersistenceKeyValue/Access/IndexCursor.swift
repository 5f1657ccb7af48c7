import PersistenceDriver

/// Iterates over the entries of a path in the contract's order, from a bookmark.
///
/// The store's order is the contract's except within a run of cut keys (``KeyForm``); the cursor reads such a
/// run whole and sorts it by full key. Entries are borrowed from the reader.
///
/// It cannot be copied: each step would retain and release all that it holds.
struct IndexCursor: ~Copyable {
  private let path: AccessPath
  private let binding: ModelBinding
  private let reader: any ByteReader
  private let cursor: any ByteCursor
  /// Whether the path reads an index, whose entries refer to records.
  private let isIndexed: Bool
  /// Looks up the records of index entries; an optional would be retained and released at each use.
  private let records: any ByteCursor
  /// The stored key of the record that is looked up.
  private let recordKey: ByteBuffer

  /// The prefetched entries; those from `taken` up to `inside` lie in the current range and have not been
  /// returned.
  private let ahead: UnsafeMutableBufferPointer<OrderedEntry>
  private var taken = 0
  private var inside = 0
  /// How many entries to prefetch next; small at first, since the caller may need few.
  private var stride = Self.firstStride
  /// Whether the next prefetched entry with a short key can be returned directly: no run is in progress.
  private var isDirect = false

  /// Whether the prefetched entries extend beyond the range.
  private var isBeyond = false

  private static let firstStride = 2  // finds the end of a range with one entry, and soon that of ten
  static let longestStride = 32

  private var range: Int
  private var start: Bookmark?
  private var isPositioned = false
  /// The end of the current range in the cursor's direction.
  private let limit: ByteBuffer
  private var hasLimit = false
  /// An entry that was read but not returned.
  private var pending: OrderedEntry?
  private var run: [OrderedEntry] = []
  /// The bytes of the run, if the store does not keep them while the cursor moves.
  private var runBytes: EntryBatch?
  private var runIndex = 0
  private var runKey: [UInt8] = []
  /// Whether the run is the last of its range.
  private var endsRange = false

  /// Opens a cursor; the caller closes it with ``close()``.
  init(_ path: AccessPath, _ binding: ModelBinding, reader: any ByteReader, from bookmark: Bookmark) throws {
    let cursor = try reader.acquireCursor(in: path.space)
    let records = try path.index == nil ? cursor : reader.acquireCursor(in: .records)
    (self.cursor, self.records, isIndexed) = (cursor, records, path.index != nil)
    (self.path, self.binding, self.reader) = (path, binding, reader)
    let workspace = reader.workspace
    recordKey = workspace.acquireBuffer()
    limit = workspace.acquireBuffer()
    ahead = workspace.acquireEntries()
    range = bookmark.range
    start = bookmark
  }

  func close() {
    let workspace = reader.workspace
    reader.release(cursor)
    workspace.release(recordKey)
    workspace.release(limit)
    workspace.release(ahead)
    if isIndexed { reader.release(records) }
  }

  /// The next entry; nil at the end.
  @inline(__always)
  mutating func next() throws -> OrderedEntry? {
    if isDirect, taken < inside {
      let entry = ahead[taken]
      if !path.form.mayBeInRun(entry.key) {
        taken &+= 1
        return entry
      }
    }
    return try nextInGeneral()
  }

  /// The next entry in the general case: the first one, one in a run, or one that is not prefetched.
  private mutating func nextInGeneral() throws -> OrderedEntry? {
    isDirect = false
    if runIndex < run.count {
      defer { runIndex += 1 }
      return run[runIndex]
    }
    if let bookmark = start, bookmark.isRun {
      start = nil
      try resumeRun(bookmark)
    } else {
      guard let entry = try nextStored() else { return nil }
      guard path.form.mayBeInRun(entry.key) else {
        if !run.isEmpty { discardRun() }
        isDirect = pending == nil && !endsRange && start == nil
        return entry
      }
      try readRun(from: entry)
    }
    defer { runIndex += 1 }
    return run[runIndex]
  }

  /// The position of the last returned entry, in two numbers.
  var mark: EntryMark { EntryMark(range: range, skipped: run.isEmpty ? nil : runIndex - 1) }

  /// The bookmark of an entry that was returned, given its mark.
  func bookmark(of entry: OrderedEntry, _ mark: EntryMark) -> Bookmark {
    guard let skipped = mark.skipped else { return Bookmark(range: mark.range, key: [UInt8](entry.key)) }
    return Bookmark(
      range: mark.range, key: [UInt8](entry.key.prefix(path.form.runLength)), isRun: true, skipped: skipped)
  }

  /// The record of an entry: its stored key and its bytes.
  func record(of entry: OrderedEntry) throws -> OrderedEntry {
    isIndexed ? try binding.record(of: entry, records, recordKey) : entry
  }
}

extension IndexCursor {
  /// Enters the current range; returns false if there are no more ranges.
  private mutating func enterRange() -> Bool {
    guard range < path.ranges.count else { return false }
    let bounds = bounds
    limit.clear()
    if path.isReversed { limit.append(bounds.lower) } else if let upper = bounds.upper { limit.append(upper) }
    hasLimit = path.isReversed || bounds.upper != nil
    return true
  }

  private var bounds: ByteRange { path.ranges[path.isReversed ? path.ranges.count - 1 - range : range] }

  private mutating func discardRun() {
    run.removeAll()
    runBytes = nil
    runIndex = 0
  }

  /// The next entry within the ranges, in the store's order.
  private mutating func nextStored() throws -> OrderedEntry? {
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

  /// The next entry of the range in the store's order; nil at the end of the range.
  private mutating func step() throws -> OrderedEntry? {
    if taken == inside {
      guard !isBeyond else { return nil }
      if stride == Self.longestStride { try ReadInterruption.check() }
      let room = UnsafeMutableBufferPointer(rebasing: ahead[..<stride])
      let count = try cursor.read(room, isReversed: path.isReversed)
      stride = min(Self.longestStride, stride * 4)
      taken = 0
      inside = count
      // Keys are sorted: if the last one is inside, so are the others.
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

  /// Seeks to the beginning of the range or to the bookmark.
  private mutating func position() throws -> OrderedEntry? {
    let bookmark = start
    start = nil
    guard let key = bookmark?.key else {
      return path.isReversed ? try before(bounds.upper) : try seek(bounds.lower)
    }
    guard let entry = try seek(key), entry.key.elementsEqual(key) else { throw lost }
    return entry
  }

  /// Reads a run again and seeks to the bookmark within it; entries outside the range are skipped as before.
  private mutating func resumeRun(_ bookmark: Bookmark) throws {
    guard let key = bookmark.key, enterRange() else { throw lost }
    let first: OrderedEntry?
    if path.isReversed {
      let whole = ByteRange(lower: [], upper: ByteOrder.next(after: key))
      first = try before(whole.clamped(to: bounds).upper)
    } else {
      first = try seek(ByteOrder.compare(key, bounds.lower) >= 0 ? key : bounds.lower)
    }
    isPositioned = true
    guard let first, isInside(first.key) else { throw lost }
    try readRun(from: first)
    guard bookmark.skipped < run.count else { throw lost }
    runIndex = bookmark.skipped
  }

  private var lost: PersistenceError {
    .damaged("a bookmark of a result refers to a missing entry").at(model: binding.declared.name)
  }

  private func seek(_ key: [UInt8]) throws -> OrderedEntry? {
    try key.withUnsafeBytes { try cursor.seek($0) }
  }

  /// The last entry below a key; the last of all if the key is nil.
  private func before(_ key: [UInt8]?) throws -> OrderedEntry? {
    guard let key else { return try cursor.last() }
    return try key.withUnsafeBytes { try cursor.last(before: $0) }
  }

  /// Reads the run that begins with an entry; sorts it only if a key in it is cut.
  private mutating func readRun(from first: OrderedEntry) throws {
    discardRun()
    runKey = [UInt8](first.key.prefix(path.form.runLength))
    var copies = reader.keepsEntries ? nil : EntryBatch(limit: .max)
    var entries = [first]
    copies?.add(first.key, first.value)
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
      copies?.add(entry.key, entry.value)
    }
    if let copies { entries = (0..<copies.count).map { copies[$0] } }
    runBytes = copies
    // Bookmarks within the run refer to this range until the whole run has been returned.
    endsRange = isAtEnd
    guard isCut else { return run = entries }
    var order = RunOrder(path, binding, reader)
    run = try order.sorted(entries) { try record(of: $0) }
  }
}

/// A position from which a cursor of the same snapshot can resume.
struct Bookmark: Sendable {
  /// The range, by position in the cursor's direction.
  var range = 0
  /// The stored key of an entry, or the common prefix of a run; nil for the beginning of the range.
  var key: [UInt8]?
  /// Whether the key is the prefix of a run.
  var isRun = false
  /// How many entries of the run precede the position.
  var skipped = 0
}

/// The part of a bookmark that the entry itself does not contain: its range, and how many entries of its run
/// precede it.
struct EntryMark {
  var range: Int
  var skipped: Int?
}
