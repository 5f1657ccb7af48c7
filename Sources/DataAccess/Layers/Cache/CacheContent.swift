import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// The content of a cache: objects by key, in order of last use, and the known coverage.
struct CacheContent<Object: PersistentRecord>: @unchecked Sendable {  // the cache's mutex guards it
  /// An object in the list of last use.
  final class Node {
    let key: RecordKey
    var object: Object
    let row: RowBuffer
    var cost: Int
    var date: Date
    // The dictionary owns the nodes. Strong links would make the release of a long list recurse once per node.
    unowned(unsafe) var newer: Node?
    unowned(unsafe) var older: Node?

    init(_ object: Object, key: RecordKey, row: RowBuffer, cost: Int, date: Date) {
      (self.object, self.key, self.row, self.cost, self.date) = (object, key, row, cost, date)
    }
  }

  private let limits: CacheDataSource<Object>.Limits
  private let cost: @Sendable (Object) -> Int
  private var nodes: [RecordKey: Node] = [:]
  private var newest: Node?
  private var oldest: Node?
  private var applied: [UUID] = []
  /// The earliest and the latest date of any object.
  private var (earliest, latest) = (Date.distantFuture, Date.distantPast)
  private(set) var totalCost = 0
  private(set) var evictionCount = 0
  /// The newest date of an evicted object.
  private var newestEviction = Date.distantPast
  var coverageIndex = CoverageIndex()

  init(limits: CacheDataSource<Object>.Limits, cost: @escaping @Sendable (Object) -> Int) {
    self.limits = limits
    self.cost = cost
  }

  var count: Int { nodes.count }

  mutating func removeAll() {
    (nodes, newest, oldest, totalCost) = ([:], nil, nil, 0)
    coverageIndex.removeAll()
  }

  // MARK: Objects

  /// The object of a key, which becomes the most recently used.
  mutating func find(_ key: RecordKey) -> Object? {
    guard let node = nodes[key] else { return nil }
    if node !== newest {
      unlink(node)
      link(node)
    }
    return node.object
  }

  /// Inserts or replaces an object as the most recently used, without evicting others.
  mutating func put(_ object: Object, asOf date: Date) throws {
    let key = object.recordKey
    _ = remove(key)
    let row = RowBuffer(count: try Object.schema.model.fields.count)
    try object.encode(into: row)
    let object = try row.isFolded ? row.withRow { try Object(from: $0) } : object
    let node = Node(object, key: key, row: row, cost: max(0, cost(object)), date: date)
    nodes[key] = node
    totalCost += node.cost
    (earliest, latest) = (min(earliest, date), max(latest, date))
    link(node)
  }

  /// Removes an object that no longer exists.
  mutating func remove(_ key: RecordKey) -> Object? {
    guard let node = nodes.removeValue(forKey: key) else { return nil }
    unlink(node)
    totalCost -= node.cost
    return node.object
  }

  /// Evicts the least recently used objects until the content is within the limits.
  mutating func makeRoom() {
    while let node = oldest, count > limits.count ?? .max || totalCost > limits.cost ?? .max { evict(node) }
  }

  /// Removes the objects that are older than an age, in seconds.
  ///
  /// A date that is as far in the future comes from another clock, and says nothing of the age.
  mutating func removeExpired(after age: Double, at now: Date) {
    let (first, last) = (now.addingTimeInterval(-age), now.addingTimeInterval(age))
    coverageIndex.forget(before: first, after: last)
    guard earliest < first || latest > last else { return }
    for node in Array(nodes.values) where node.date < first || node.date > last { evict(node) }
    earliest = nodes.values.lazy.map(\.date).min() ?? .distantFuture
    latest = nodes.values.lazy.map(\.date).max() ?? .distantPast
  }

  /// Evicts an object that may still exist, so no region that contains it stays complete.
  private mutating func evict(_ node: Node) {
    _ = remove(node.key)
    (evictionCount, newestEviction) = (evictionCount + 1, max(newestEviction, node.date))
    coverageIndex.forget(node.key) { coverage in
      guard let region = coverage.region, let schema = try? Object.schema.model,
        let predicate = try? CompiledPredicate(region, in: schema)
      else { return true }
      return (try? node.row.withRow { try predicate.matches($0) }) ?? true
    }
  }

  // MARK: List of last use

  private mutating func link(_ node: Node) {
    (node.older, node.newer) = (newest, nil)
    newest?.newer = node
    newest = node
    if oldest == nil { oldest = node }
  }

  private mutating func unlink(_ node: Node) {
    if node === newest { newest = node.older }
    if node === oldest { oldest = node.newer }
    node.older?.newer = node.newer
    node.newer?.older = node.older
    (node.older, node.newer) = (nil, nil)
  }

  // MARK: Queries

  /// The cached objects that match a request, in its order.
  mutating func objects(of request: FetchRequest) throws -> [Object] {
    let predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    let order = try RowOrder(request.totalOrder, in: request.schema)
    var found: [Node] = []
    for node in nodes.values where try node.row.withRow({ try predicate.matches($0) }) { found.append(node) }
    found.sort { left, right in
      left.row.withRow { left in right.row.withRow { order.compare(left, $0) < 0 } }
    }
    let page = found.dropFirst(request.offset).prefix(request.limit ?? .max)
    for node in page { _ = find(node.key) }
    return page.map(\.object)
  }

  /// The answer to a query; nil unless the cache is known to hold all of it.
  mutating func answer(_ layerQuery: LayerQuery<Object>) throws -> ReplicaAnswer<Object>? {
    switch layerQuery.kind {
    case .key(_, let key):
      guard !coverageIndex.staleKeys.contains(key) else { return nil }
      if let object = find(key) {
        return ReplicaAnswer(objects: [object], asOf: coverageIndex.keys[key] ?? nodes[key]?.date)
      }
      return try coverageIndex.knowledge(of: key, isHeld: false, request: layerQuery.request)
        .map { ReplicaAnswer(objects: [], asOf: $0) }
    case .query:
      let parts = try coverageIndex.parts(for: layerQuery.request)
      guard !parts.isEmpty else { return nil }
      let objects = try objects(of: layerQuery.request)
      return try parts.first { try $0.reach.isWhole(objects, for: layerQuery.request) }
        .map { ReplicaAnswer(objects: objects, asOf: $0.asOf) }
    }
  }

  /// Applies the answer of a better layer, and then evicts what exceeds the limits.
  mutating func refresh(_ refresh: Refresh<Object>) throws -> Bool {
    if refresh.order.isOutdated { return false }
    let coverage = try refresh.coverage()
    let newerKeys = try refresh.order.isOfTop ? [] : newerKeys(than: refresh)
    let plan = try RefreshPlan(refresh, held: try localObjects(matching: refresh, coverage)) { key in
      let state = refresh.order.state(of: key)
      guard state == .newer || state == .older && newerKeys.contains(key) else { return state }
      // The cache must hold the newer state: it may have evicted it, or know no more than that it lacks the answer's.
      let isKnown = nodes[key] != nil || coverageIndex.keys[key] != nil || refresh.changedKeys != nil
      return isKnown ? .newer : .undecided
    }
    for object in plan.removed { _ = remove(object.recordKey) }
    if case .query = refresh.layerQuery.kind, let coverage {
      try coverageIndex.forget(plan.removed, missingFrom: coverage)
    }
    let isTrusted = coverageIndex.invalidationCount == refresh.version.invalidationCount
    let confirmed = Set(plan.confirmed)
    for object in refresh.objects.reversed() where confirmed.contains(object.recordKey) {
      try put(object, asOf: refresh.asOf)
      if isTrusted { coverageIndex.record(object.recordKey, asOf: refresh.asOf) }
    }
    refresh.markStored(plan)
    if isTrusted {
      if case .key = refresh.layerQuery.kind {
        if let key = plan.lookedUpKey { coverageIndex.record(key, asOf: refresh.asOf) }
      } else if let coverage, plan.isWhole, !hasEvictedNewer(than: refresh) {
        coverageIndex.record(coverage)
      }
    }
    makeRoom()
    return plan.isWhole
  }

  /// Whether an object that an answer may lack was stored and evicted since the question.
  private func hasEvictedNewer(than refresh: Refresh<Object>) -> Bool {
    evictionCount != refresh.version.evictionCount && newestEviction >= refresh.asOf
  }

  /// The keys of which the cache knows more than the local layer, which could not store a newer answer.
  private func newerKeys(than refresh: Refresh<Object>) throws -> Set<RecordKey> {
    var newer = Set(coverageIndex.keys.lazy.filter { $0.value > refresh.asOf }.map(\.key))
    for node in nodes.values where node.date > refresh.asOf { newer.insert(node.key) }
    let schema = refresh.layerQuery.request.schema
    let row = RowBuffer(count: schema.fields.count)
    for region in coverageIndex.regions where region.asOf > refresh.asOf {
      let predicate = try CompiledPredicate(region.region, in: schema)
      for object in refresh.objects where nodes[object.recordKey] == nil {
        try object.encode(into: row)
        if try row.withRow({ try predicate.matches($0) }) { newer.insert(object.recordKey) }
      }
    }
    return newer
  }

  /// The cached objects of the answered region, and those of the answer.
  private func localObjects(matching refresh: Refresh<Object>, _ coverage: Coverage?) throws -> [Object] {
    var held = (refresh.changedKeys ?? []).compactMap { nodes[$0]?.object }
    if let coverage {
      let region = try CompiledPredicate(coverage.region, in: refresh.layerQuery.request.schema)
      for node in nodes.values where try node.row.withRow({ try region.matches($0) }) {
        held.append(node.object)
      }
    }
    return held + refresh.objects(besides: held).compactMap { nodes[$0.recordKey]?.object }
  }

  // MARK: Changes

  /// Applies all changes or none.
  mutating func apply(_ changes: [ObjectChange<Object>], asOf date: Date) throws {
    var before: [RecordKey: Object?] = [:]
    for change in changes {
      let key = change.object.recordKey
      if before[key] == nil { before[key] = .some(nodes[key]?.object) }
    }
    do {
      for change in changes { try apply(change, asOf: date) }
    } catch {
      for (key, object) in before {
        _ = remove(key)
        if let object { try put(object, asOf: date) }
      }
      throw error
    }
    makeRoom()
  }

  /// Runs a closure unless a recent call had the same id.
  ///
  /// - Returns: Whether the closure ran.
  mutating func applyOnce(_ id: UUID, _ body: (inout CacheContent) throws -> Void) throws -> Bool {
    guard !applied.contains(id) else { return false }
    try body(&self)
    applied.append(id)
    if applied.count > 1024 { applied.removeFirst(512) }
    return true
  }

  private mutating func apply(_ change: ObjectChange<Object>, asOf date: Date) throws {
    let (object, schema) = (change.object, try Object.schema.model)
    let (key, stored) = (object.recordKey, nodes[object.recordKey]?.object)
    switch change {
    case .insert:
      if stored != nil { throw PersistenceError.duplicateKey(key, in: schema) }
    case .update(_, let expected):
      if let expected { try object.requireSameKey(as: expected) }
      guard let stored else { throw PersistenceError.notFound(key, in: schema) }
      if let expected { try stored.requireSameFields(as: expected) }
    case .save: break
    case .delete:
      _ = remove(key)
      return
    }
    try requireUnique(object, in: schema)
    try put(object, asOf: date)
  }

  /// Checks the unique indexes against all other objects.
  private func requireUnique(_ object: Object, in schema: ModelSchema) throws {
    for index in schema.indexes where index.isUnique {
      let row = RowBuffer(count: schema.fields.count)
      try object.encode(into: row)
      let positions = index.fields.compactMap { schema.position(of: $0) }
      let values = try row.withRow { row in try positions.map { try row.value(at: $0).normalized } }
      if values.contains(where: \.isNull) { continue }
      let key = object.recordKey
      for node in nodes.values where node.key != key {
        let others = try node.row.withRow { row in try positions.map { try row.value(at: $0).normalized } }
        if others == values {
          throw PersistenceError.uniqueViolation(values, of: index, in: schema, key: key)
        }
      }
    }
  }
}
