import PersistenceDriver
import PersistenceDriverSupport

/// A known plan that yields its rows in order from one range of keys, for one reader, which passes them on in one pass.
///
/// Results need a query that lives on, and cursors that resume anywhere. To make those takes longer than to read some rows.
/// Nothing else refers to the plan, so concurrent readers share no reference counts.
final class DirectPlan {
  /// The reader's own binding, for which the plan was made.
  let binding: ModelBinding
  private let outline: PlanOutline
  private let form: KeyForm
  private let prefix: [UInt8]
  private let isIndexed: Bool
  private let isReversed: Bool
  private let equals: Int

  init(_ outline: PlanOutline, _ binding: ModelBinding, longestKey: Int) {
    (self.outline, self.binding) = (outline, binding)
    (isReversed, equals) = (outline.isReversed, outline.equalComponents)
    switch outline.path {
    case .scan, .primaryKey:
      (form, prefix, isIndexed) = (.records(longest: longestKey), binding.prefix, false)
    case .index(let number):
      (form, prefix, isIndexed) = (.entries(longest: longestKey), binding.readable[number].prefix, true)
    }
  }

  /// Passes on the rows of a request, and counts them from the first one before the offset.
  ///
  /// - Returns: Whether no row remains. If not, the plan does not serve the request, or has met a key that may be cut.
  func passOn(
    _ request: FetchRequest, _ reader: any ByteReader, _ workspace: KeyValueWorkspace, location: String,
    _ row: inout Int, _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    let (lower, upper) = (workspace.acquireBuffer(), workspace.acquireBuffer())
    defer {
      workspace.release(lower)
      workspace.release(upper)
    }
    guard outline.serves(request, .rows), let next = outline.next(of: request),
      try encode(next, of: request, lower, upper)
    else { return false }
    let cursor = try reader.acquireCursor(in: isIndexed ? .indexes : .records)
    defer { reader.release(cursor) }
    guard isIndexed else {
      return try passOn(request, from: cursor, lower, upper, &row) { record in
        try RecordAccess.pass(record, binding, reader, workspace, location: location, body)
      }
    }
    let (records, key) = (try reader.acquireCursor(in: .records), workspace.acquireBuffer())
    defer {
      reader.release(records)
      workspace.release(key)
    }
    return try passOn(request, from: cursor, lower, upper, &row) { entry in
      let record = try binding.record(of: entry, records, key)
      try RecordAccess.pass(record, binding, reader, workspace, location: location, body)
    }
  }

  /// Calls a closure with the entries from one key to another, behind the offset and up to the limit; returns false at an
  /// entry that may belong to a run of cut keys.
  @inline(__always)
  private func passOn(
    _ request: FetchRequest, from cursor: any ByteCursor, _ lower: ByteBuffer, _ upper: ByteBuffer,
    _ row: inout Int, _ body: (OrderedEntry) throws -> Void
  ) throws -> Bool {
    let (first, end) = (request.offset, request.end)
    var entry = isReversed ? try cursor.last(before: upper.bytes) : try cursor.seek(lower.bytes)
    while row < end, let found = entry {
      guard
        isReversed
          ? TotalOrder.compare(found.key, lower.bytes) >= 0 : TotalOrder.compare(found.key, upper.bytes) < 0
      else { return true }
      if form.mayBeInRun(found.key) { return false }
      if row & 0xF == 0xF { try ReadInterruption.check() }
      if row >= first { try body(found) }
      row += 1
      if row < end { entry = isReversed ? try cursor.previous() : try cursor.next() }
    }
    return true
  }

  /// Encodes the ends of the range; returns false if one is so long that keys within may be cut.
  private func encode(
    _ next: AccessPlan.Next, of request: FetchRequest, _ lower: ByteBuffer, _ upper: ByteBuffer
  ) throws -> Bool {
    lower.append(prefix)
    try outline.appendEquals(of: request, to: lower)
    upper.append(lower.bytes)
    switch next {
    case .all: upper.append(KeyCodec.afterAll)
    case .bounds(let low, let high):
      if let low {
        try KeyCodec.append(value: low.value, to: lower)
        if !low.isInclusive { lower.append(KeyCodec.afterAll) }
      }
      if let high { try KeyCodec.append(value: high.value, to: upper) }
      if high?.isInclusive ?? true { upper.append(KeyCodec.afterAll) }
    case .prefix: return false
    }
    return max(lower.count, upper.count) <= form.runLength
  }
}

extension FetchRequest {
  /// The number of rows to read before offset and limit are applied; the largest integer for all.
  var end: Int {
    let (sum, overflows) = offset.addingReportingOverflow(limit ?? Int.max)
    return overflows ? Int.max : sum
  }
}

extension ModelBinding {
  /// The record of an index entry; the buffer takes its stored key.
  @inline(__always)
  func record(of entry: OrderedEntry, _ records: any ByteCursor, _ key: ByteBuffer) throws -> OrderedEntry {
    key.clear()
    try IndexEntry.appendRecordKey(of: entry, prefix: prefix, to: key)
    guard let record = try records.find(key.bytes) else {
      throw PersistenceError.damaged("an index entry refers to a missing record").at(model: declared.name)
    }
    return record
  }
}
