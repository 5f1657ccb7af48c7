import PersistenceDriver
import PersistencePlanner
import PersistenceDriverSupport

/// A request made ready for a store: its plan in terms of keys, and what is evaluated on each row.
struct PreparedQuery: Sendable {
  let request: FetchRequest
  let binding: ModelBinding
  let location: String
  let plan: AccessPlan
  let path: AccessPath
  /// What the keys of the path hold.
  let fields: EntryFields
  /// nil where every entry of the path fits.
  let predicate: CompiledPredicate?
  /// The part of the predicate that keys decide which are not cut, and the part that is left then.
  let keyPredicate: CompiledPredicate?
  let restPredicate: CompiledPredicate?
  /// The paths whose records alone count.
  private let intersections: [AccessPath]

  /// - Parameters:
  ///   - request: The request.
  ///   - binding: Its model.
  ///   - reader: What estimates are made from.
  ///   - location: The store, for messages.
  ///   - needs: What is wanted of the rows.
  /// - Throws: ``PersistenceError`` where the store cannot be read.
  init(
    _ request: FetchRequest, _ binding: ModelBinding, _ reader: any ByteReader, location: String,
    needs: AccessNeeds = .rows
  ) throws {
    let planner = AccessPlanner(request, indexes: binding.readableIndexes, needs: needs)
    let statistics = PathStatistics(binding, reader, location: location)
    let plan = try reader.workspace.dice?.choose(planner.all()) ?? planner.best(statistics)
    try self.init(request, binding, plan, longestKey: reader.longestKey, location: location)
  }

  init(
    _ request: FetchRequest, _ binding: ModelBinding, _ plan: AccessPlan, longestKey: Int, location: String
  ) throws {
    self.request = request
    self.binding = binding
    self.location = location
    self.plan = plan
    path = try AccessPath(plan, binding, longestKey: longestKey)
    fields = EntryFields(of: path, binding)
    intersections = try plan.intersected.map { try AccessPath($0, binding, longestKey: longestKey) }
    let isWidened = path.isWidened || intersections.contains { $0.isWidened }
    let residual = isWidened ? request.predicateWithAnchor : plan.residual
    predicate = try residual.map { try CompiledPredicate($0, in: binding.declared) }
    let held = fields.positions
    let (byKey, rest) =
      residual?.parts { name in
        binding.declared.position(of: name).map(held.contains) ?? false
      } ?? (nil, nil)
    keyPredicate = try byKey.map { try CompiledPredicate($0, in: binding.declared) }
    restPredicate = try rest.map { try CompiledPredicate($0, in: binding.declared) }
  }

  /// Whether the path is every record of the model.
  var isWhole: Bool { plan.path == .scan && plan.anchor == nil && predicate == nil && !plan.ranges.isEmpty }

  /// Whether these fields of the rows can be had without reading a record whose key is not cut.
  func isKeyOnly(_ wanted: [Int]) -> Bool { restPredicate == nil && fields.hold(wanted) }

  /// How the request is answered where some fields are wanted of each row; nil for all.
  func queryPlan(selecting wanted: [Int]?) -> QueryPlan {
    let wanted = wanted ?? Array(binding.declared.fields.indices)
    // Rows that were sorted are found again by their keys.
    return plan.queryPlan(for: request, isIndexOnly: plan.isOrdered && isKeyOnly(wanted))
  }

  /// The keys of the records that the other paths lead to; nil where there are none.
  func intersected(_ reader: any ByteReader) throws -> KeySet? {
    var found: KeySet?
    for path in intersections {
      var keys = KeySet()
      let key = reader.workspace.takeBuffer()
      defer { reader.workspace.giveBack(key) }
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

  /// How many rows the request has.
  func count(_ reader: any ByteReader) throws -> Int {
    let wanted = wanted
    let found: Int
    if isWhole {
      found = try Catalog.count(of: binding.model, reader)
    } else if predicate == nil, intersections.isEmpty {
      found = try path.count(reader, limit: wanted)
    } else {
      let walk = try RowCursor(self, reader, filling: [])
      defer { walk.end() }
      var count = 0
      while count < wanted, try walk.next() != nil { count += 1 }
      found = count
    }
    return max(0, min(found, wanted) - request.offset)
  }

  /// How many rows are met at most before offset and limit are applied.
  var wanted: Int {
    let (sum, overflows) = request.offset.addingReportingOverflow(request.limit ?? Int.max)
    return overflows ? Int.max : sum
  }

  /// The rows, whole or some of their fields.
  func results(_ reader: any ByteReader, _ source: any ByteSource, selecting positions: [Int]? = nil) throws
    -> any StorageResults
  {
    plan.isOrdered
      ? CursorResults(self, source, selecting: positions)
      : SortedResults(self, try sort(reader), source, selecting: positions)
  }

  /// The stored keys of the rows, offset and limit applied.
  func storedKeys(_ reader: any ByteReader) throws -> StoredKeys {
    var keys = StoredKeys()
    guard plan.isOrdered || (request.limit == nil && request.offset == 0) else {
      let sorted = try sort(reader)
      for index in min(request.offset, sorted.count)..<sorted.count {
        sorted.withKey(at: index) { keys.append($0) }
      }
      return keys
    }
    let walk = try RowCursor(self, reader, filling: [])
    defer { walk.end() }
    var passed = 0
    while keys.count < request.limit ?? Int.max, try walk.next() != nil {
      passed += 1
      if passed > request.offset { keys.append(try walk.storedKey()) }
    }
    return keys
  }
}
