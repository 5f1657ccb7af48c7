import PersistenceDriver
import PersistenceDriverSupport

/// A known plan that yields its rows in order from one range of keys, for one reader, which passes them on in one pass.
///
/// Results need a query that lives on, and cursors that resume anywhere. To make those takes longer than to read some rows.
final class DirectPlan {
  /// A copy of the binding, whose reference counts no other reader changes.
  let binding: ModelBinding
  /// The version of the store for which the binding is valid.
  var version: Int

  private let outline: PlanOutline
  private let form: KeyForm
  private let prefix: [UInt8]
  private let isIndexed: Bool
  private let isReversed: Bool

  init(_ outline: PlanOutline, _ binding: ModelBinding, version: Int, longestKey: Int) {
    (self.outline, self.binding, self.version) = (outline, binding, version)
    isReversed = outline.isReversed
    switch outline.path {
    case .scan, .primaryKey:
      (form, prefix, isIndexed) = (.records(longest: longestKey), binding.prefix, false)
    case .index(let number):
      (form, prefix, isIndexed) = (.entries(longest: longestKey), binding.readable[number].prefix, true)
    }
  }

  /// Whether it has an outline.
  func isSame(_ outline: PlanOutline) -> Bool { self.outline === outline }

  /// Whether a request has the shape of the plan.
  func serves(_ request: FetchRequest) -> Bool { outline.serves(request, .rows) }

  /// Passes on the rows of a request that the plan serves, and counts them from the first one before the offset.
  ///
  /// - Returns: Whether no row remains. If not, the range or a key in it may be cut.
  func passOn(
    _ request: FetchRequest, _ reader: any ByteReader, _ workspace: KeyValueWorkspace, location: String,
    _ row: inout Int, _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    let (lower, upper) = (workspace.acquireBuffer(), workspace.acquireBuffer())
    defer {
      workspace.release(lower)
      workspace.release(upper)
    }
    guard let next = outline.next(of: request) else { return false }
    lower.append(prefix)
    try outline.appendEquals(of: request, to: lower)
    upper.append(lower.bytes)
    try next.appendLower(to: lower)
    try next.appendUpper(to: upper)
    guard max(lower.count, upper.count) <= form.runLength else { return false }
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
}

/// The direct plans of a reader's last requests.
struct DirectPlans {
  /// An evicted plan takes a copy of a binding to make again, so there is room for the shapes of several screens or pages.
  private static let limit = 16

  /// The plans, the newest last.
  private var plans: [DirectPlan] = []
  /// Whether the reader has passed on rows before: one that does so once needs no plan.
  private var hasPassed = false

  /// The plan that serves a request in a version of the store; nil if there is none.
  mutating func plan(for request: FetchRequest, version: Int, _ cache: CatalogCache) -> DirectPlan? {
    guard let index = plans.lastIndex(where: { $0.serves(request) }) else { return nil }
    let plan = plans[index]
    if plan.version == version { return plan }
    // After a commit of another process, the query is prepared, which finds out what the version has.
    guard let shared = cache.binding(request.schema, version: version) else { return nil }
    guard plan.binding.isCopy(of: shared) else {
      plans.remove(at: index)
      return nil
    }
    plan.version = version
    return plan
  }

  /// Keeps a plan for further requests of its shape.
  mutating func keep(_ outline: PlanOutline, _ shared: ModelBinding, version: Int, longestKey: Int) {
    guard hasPassed else {
      hasPassed = true
      return
    }
    plans.removeAll { $0.isSame(outline) }
    let known = plans.first { $0.binding.isCopy(of: shared) }?.binding
    let binding = known ?? ModelBinding(shared.model, declared: shared.declared)
    if plans.count >= Self.limit { plans.removeFirst() }
    plans.append(DirectPlan(outline, binding, version: version, longestKey: longestKey))
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
  /// Whether it is bound to the same model as another binding of the schema.
  ///
  /// A model that was dropped and defined again has another number, possibly with the same schema.
  func isCopy(of other: ModelBinding) -> Bool {
    identity == other.identity && model.number == other.model.number
      && model.schema.identity == other.model.schema.identity && model.indexing == other.model.indexing
  }

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
