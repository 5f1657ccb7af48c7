import PersistenceDriver
import PersistenceDriverSupport

/// A request prepared for a store: its plan as key ranges, and the predicates that are evaluated on each row.
///
/// A class, because results and each of their cursors keep it: a copy would count a dozen references.
final class PreparedQuery: Sendable {
  let request: FetchRequest
  let binding: ModelBinding
  let location: String
  private let chosen: ChosenPlan
  /// Whether the path yields the request's total order; otherwise the rows are sorted.
  private let isOrdered: Bool
  /// Whether the query matches every record of the model, which it reads by the key.
  let isWhole: Bool
  /// Whether the plan reads a whole secondary index.
  let isWholeIndex: Bool
  let path: AccessPath
  /// The fields in the keys of the path.
  let fields: EntryFields
  /// The residual predicate; nil if every entry of the path matches.
  let predicate: CompiledPredicate?
  /// The part of the predicate that is evaluated on keys that are not cut, and the remaining part.
  let keyPredicate: CompiledPredicate?
  let restPredicate: CompiledPredicate?
  private let intersections: [AccessPath]

  /// Plans a request with the statistics of the store.
  ///
  /// The store's cache says whether a kept sample is recent. A transaction passes none: its own writes do not count yet.
  convenience init(
    _ request: FetchRequest, _ binding: ModelBinding, _ reader: any ByteReader, location: String,
    needs: AccessNeeds = .rows, cache: CatalogCache? = nil
  ) throws {
    let workspace = reader.workspace
    let chosen: ChosenPlan
    if let choose = workspace.planChooser {
      let plans = AccessPlanner(request, indexes: binding.readableIndexes, needs: needs).all()
      chosen = .made(plans[choose(plans.count)], isReused: false)
    } else if request.isPlannedAnew {
      let statistics = PathStatistics(binding: binding, reader: reader, location: location)
      let planner = AccessPlanner(request, indexes: binding.readableIndexes, needs: needs)
      chosen = .made(try planner.best(statistics), isReused: false)
    } else if let latest = binding.knownPlans.latest(for: request, needs) {
      // Asked before there are statistics, which hold all that they may read.
      chosen = latest
    } else {
      chosen = try AccessPlanner.best(
        request, indexes: binding.readableIndexes, needs: needs,
        PathStatistics(binding: binding, reader: reader, location: location, cache: cache),
        knowing: binding.knownPlans)
    }
    let key = workspace.acquireBuffer()
    defer { workspace.release(key) }
    try self.init(request, binding, chosen, longestKey: reader.longestKey, location: location, in: key)
  }

  init(
    _ request: FetchRequest, _ binding: ModelBinding, _ chosen: ChosenPlan, longestKey: Int, location: String,
    in key: ByteBuffer = ByteBuffer()
  ) throws {
    self.request = request
    self.binding = binding
    self.location = location
    self.chosen = chosen
    var residual: PredicateNode?
    switch chosen {
    case .made(let plan, _):
      path = try AccessPath(plan, binding, longestKey: longestKey, in: key)
      intersections = try plan.intersected.map { try AccessPath($0, binding, longestKey: longestKey) }
      (isOrdered, isWholeIndex, residual) = (plan.isOrdered, plan.isWholeIndex, plan.residual)
      isWhole = plan.path == .scan && plan.anchor == nil && residual == nil && !plan.ranges.isEmpty
    case .known(let outline, let next):
      path = try AccessPath(outline, next, of: request, binding, longestKey: longestKey, in: key)
      intersections = []
      isOrdered = outline.isOrdered
      isWholeIndex = outline.path.isIndex && outline.equalComponents == 0 && next == .all
      isWhole = outline.path == .scan
    }
    fields = EntryFields(of: path, binding)
    if path.isWidened || intersections.contains(where: { $0.isWidened }) {
      residual = request.predicateWithAnchor
    }
    predicate = try residual.map { try CompiledPredicate($0, in: binding.declared) }
    let keyFields = fields.positions
    let (byKey, rest) =
      residual?.parts { name in
        binding.declared.position(of: name).map(keyFields.contains) ?? false
      } ?? (nil, nil)
    keyPredicate = try byKey.map { try CompiledPredicate($0, in: binding.declared) }
    restPredicate = try rest.map { try CompiledPredicate($0, in: binding.declared) }
  }

  /// The whole plan; made anew for a known one.
  var plan: AccessPlan { chosen.plan(of: request) }

  /// Whether entries of the path may not match.
  var isFiltered: Bool { predicate != nil || !intersections.isEmpty }

  /// Whether these fields can be decoded from keys that are not cut.
  func isKeyOnly(_ wanted: [Int]) -> Bool { restPredicate == nil && fields.cover(wanted) }

  /// The plan of the request for some fields; nil for all fields.
  func queryPlan(selecting wanted: [Int]?) -> QueryPlan {
    let wanted = wanted ?? Array(binding.declared.fields.indices)
    // Sorted rows are looked up by their keys.
    var plan = self.plan.queryPlan(for: request, isIndexOnly: isOrdered && isKeyOnly(wanted))
    plan.isReused = chosen.isReused
    return plan
  }

  /// The intersection of the records of the other paths; nil if there are none.
  func intersected(_ reader: any ByteReader) throws -> KeySet? {
    var found: KeySet?
    for path in intersections {
      var keys = KeySet()
      let key = reader.workspace.acquireBuffer()
      defer { reader.workspace.release(key) }
      try path.forEach(reader) { entry in
        key.clear()
        try IndexEntry.appendRecordKey(of: entry, prefix: binding.prefix, to: key)
        if found?.contains(key.bytes) ?? true { keys.add(key.bytes) }
        return true
      }
      found = keys
    }
    return found
  }

  func count(_ reader: any ByteReader) throws -> Int {
    let wanted = wanted
    let found: Int
    if isWhole {
      found = try Catalog.count(of: binding.model, reader)
    } else if predicate == nil, intersections.isEmpty {
      found = try path.count(reader, limit: wanted)
    } else {
      let cursor = try RowCursor(self, reader, filling: [])
      defer { cursor.close() }
      var count = 0
      while count < wanted, try cursor.next() != nil { count += 1 }
      found = count
    }
    return max(0, min(found, wanted) - request.offset)
  }

  /// The largest number of rows to read before offset and limit are applied.
  var wanted: Int { request.end }

  /// The rows, whole or with some of their fields.
  func results(_ reader: any ByteReader, _ source: any ByteSource, selecting positions: [Int]? = nil) throws
    -> any StorageResults
  {
    isOrdered
      ? CursorResults(self, source, selecting: positions)
      : SortedResults(self, try sort(reader), source, selecting: positions)
  }

  /// The outline of a plan that yields the rows in order from one range, each entry of which matches; nil for another
  /// plan.
  var directOutline: PlanOutline? {
    if case .known(let outline, _) = chosen, isOrdered, !isFiltered { outline } else { nil }
  }

  /// Passes on the rows after offset and limit, without results that live on; returns their number.
  ///
  /// A number of rows, from the first one before the offset, were passed on already.
  func passOn(_ reader: any ByteReader, after passed: Int, _ body: (borrowing Row) throws -> Void) throws
    -> Int
  {
    guard isOrdered else { return try passOnSorted(reader, after: passed, body) }
    let cursor = try RowCursor(self, reader)
    defer { cursor.close() }
    let first = max(passed, request.offset)
    var row = 0
    while row < wanted, let record = try cursor.next() {
      if row & 0xF == 0xF { try ReadInterruption.check() }
      if row >= first { try cursor.read(record, body) }
      row += 1
    }
    return max(0, row - request.offset)
  }

  /// The stored keys of the rows after offset and limit.
  func storedKeys(_ reader: any ByteReader) throws -> StoredKeys {
    var keys = StoredKeys()
    guard isOrdered || (request.limit == nil && request.offset == 0) else {
      let sorted = try sort(reader)
      for index in min(request.offset, sorted.count)..<sorted.count {
        sorted.withKey(at: index) { keys.append($0) }
      }
      return keys
    }
    let cursor = try RowCursor(self, reader, filling: [])
    defer { cursor.close() }
    var passed = 0
    while keys.count < request.limit ?? Int.max, try cursor.next() != nil {
      passed += 1
      if passed > request.offset { keys.append(try cursor.storedKey()) }
    }
    return keys
  }
}
