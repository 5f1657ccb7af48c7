import PersistenceDriver
import PersistencePlanner

/// A request made ready for a store: its plan in terms of keys, and what is evaluated on each row.
struct PreparedQuery: Sendable {
  let request: FetchRequest
  let binding: ModelBinding
  let location: String
  let plan: AccessPlan
  let path: AccessPath
  /// nil where every entry of the path fits.
  let predicate: CompiledPredicate?

  /// - Parameters:
  ///   - request: The request.
  ///   - binding: Its model.
  ///   - reader: What estimates are made from.
  ///   - location: The store, for messages.
  /// - Throws: ``PersistenceError`` where the store cannot be read.
  init(_ request: FetchRequest, _ binding: ModelBinding, _ reader: any ByteReader, location: String) throws {
    let planner = AccessPlanner(request, indexes: binding.model.schema.indexes)
    let plan = try planner.best(
      total: { try Catalog.count(of: binding.model, reader) },
      estimate: { plan, limit in
        let path = try AccessPath(plan, binding, longestKey: reader.longestKey)
        return try Self.entries(path, reader, limit: limit)
      })
    try self.init(request, binding, plan, longestKey: reader.longestKey, location: location)
  }

  init(
    _ request: FetchRequest, _ binding: ModelBinding, _ plan: AccessPlan, longestKey: Int, location: String
  )
    throws
  {
    self.request = request
    self.binding = binding
    self.location = location
    self.plan = plan
    path = try AccessPath(plan, binding, longestKey: longestKey)
    let residual = path.isWidened ? request.predicateWithAnchor : plan.residual
    predicate = try residual.map { try CompiledPredicate($0, in: binding.declared) }
  }

  /// Whether the path is every record of the model.
  var isWhole: Bool { plan.path == .scan && plan.anchor == nil && predicate == nil && !plan.ranges.isEmpty }

  /// How many entries the path has, counted up to a limit.
  private static func entries(_ path: AccessPath, _ reader: any ByteReader, limit: Int) throws -> Int {
    let cursor = try reader.takeCursor(in: path.space)
    defer { reader.giveBack(cursor) }
    var count = 0
    for range in path.ranges {
      var entry = try range.lower.withUnsafeBytes { try cursor.seek($0) }
      while count < limit, let found = entry {
        if let upper = range.upper,
          upper.withUnsafeBytes({ TotalOrder.compare(found.key, $0) >= 0 })
        {
          break
        }
        count += 1
        entry = try cursor.next()
      }
    }
    return count
  }

  /// How many rows the request has.
  func count(_ reader: any ByteReader) throws -> Int {
    let wanted =
      request.limit.map { limit in
        let (sum, overflows) = limit.addingReportingOverflow(request.offset)
        return overflows ? Int.max : sum
      } ?? Int.max
    let found: Int
    if isWhole {
      found = try Catalog.count(of: binding.model, reader)
    } else if predicate == nil {
      found = try Self.entries(path, reader, limit: wanted)
    } else {
      let walk = try RowWalk(self, reader)
      defer { walk.end() }
      var count = 0
      while count < wanted, try walk.next() != nil { count += 1 }
      found = count
    }
    return max(0, min(found, wanted) - request.offset)
  }

  /// The rows.
  func results(_ reader: any ByteReader, _ source: any ByteSource) throws -> any StorageResults {
    plan.isOrdered ? WalkedResults(self, source) : SortedResults(self, try sort(reader), source)
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
    let walk = try RowWalk(self, reader)
    defer { walk.end() }
    var passed = 0
    while keys.count < request.limit ?? Int.max, let record = try walk.next() {
      passed += 1
      if passed > request.offset { keys.append(record.key) }
    }
    return keys
  }
}
