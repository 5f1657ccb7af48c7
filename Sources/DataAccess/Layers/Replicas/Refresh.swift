import Foundation
import PersistenceCore
import PersistenceDriver

/// The answer of a better layer, for refreshing a replica.
struct Refresh<Object: PersistentRecord>: Sendable {
  var layerQuery: LayerQuery<Object>
  var objects: [Object]
  var asOf: Date
  /// The replica's version before the better layer was queried.
  var version: ReplicaVersion
  let order: WriteOrder
  /// The keys that the objects decide, for changes of the better layer; nil for the answer to a query.
  ///
  /// An absent object was then deleted, and did not move to another region. Changes make no region complete.
  var changedKeys: [RecordKey]?

  init(
    _ layerQuery: LayerQuery<Object>, _ objects: [Object], asOf: Date, version: ReplicaVersion,
    _ order: WriteOrder
  ) {
    (self.layerQuery, self.objects, self.asOf, self.version) = (layerQuery, objects, asOf, version)
    self.order = order
  }

  /// The region that the answer covers; nil for changes.
  func coverage() throws -> Coverage? {
    try changedKeys == nil ? layerQuery.coverage(of: objects, asOf: asOf) : nil
  }

  /// The queries for the local objects with the changed keys.
  func changedParts() throws -> [FetchOptions<Object>] {
    let schema = layerQuery.request.schema
    return (changedKeys ?? []).map {
      FetchOptions(predicate: PersistentPredicate(node: .key($0, in: schema)))
    }
  }

  /// The query for the local objects of a region.
  func part(_ coverage: Coverage?) -> FetchOptions<Object>? {
    coverage.map { FetchOptions(predicate: PersistentPredicate(node: $0.region ?? .constant(true))) }
  }

  /// The objects that are not in a given list.
  func objects(besides held: [Object]) -> [Object] {
    let known = Set(held.map(\.recordKey))
    return objects.filter { !known.contains($0.recordKey) }
  }
}

extension Refresh {
  /// Marks that the layer has applied the plan's changes.
  func markStored(_ plan: RefreshPlan<Object>) {
    if changedKeys != nil {
      // Absent ones too: an answer from before may still contain them.
      for key in plan.confirmed + plan.removed.map(\.recordKey) + plan.absent { order.markStored(key) }
      return
    }
    switch layerQuery.kind {
    case .key: if let key = plan.lookedUpKey { order.markStored(key) }
    case .query: order.markStored(nil)
    }
  }
}
