import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// Any data source as a layer.
///
/// Its coverage is in memory and lost at a restart.
final class VolatileLayer<Object: PersistentRecord>: ReplicaLayer {
  private let source: AnyDataSource<Object>
  private let coverageIndex = Mutex(CoverageIndex())
  /// Makes a read, comparison and write atomic among writers.
  private let mutex = AsyncMutex()

  init(_ source: AnyDataSource<Object>) { self.source = source }

  func answer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> ReplicaAnswer<Object>? {
    // Read before the objects: a concurrent change can only make the objects newer than their coverage.
    let before = coverageIndex.withLock { $0 }
    switch layerQuery.kind {
    case .key(_, let key):
      if before.staleKeys.contains(key) { return nil }
      let objects = try await layerQuery.ask(source)
      return try mappingErrors {
        try before.knowledge(of: key, isHeld: !objects.isEmpty, request: layerQuery.request)
      }.map { ReplicaAnswer(objects: objects, asOf: $0) }
    case .query:
      let parts = try mappingErrors { try before.parts(for: layerQuery.request) }
      if parts.isEmpty { return nil }
      let objects = try await layerQuery.ask(source)
      return try mappingErrors { try parts.first { try $0.reach.isWhole(objects, for: layerQuery.request) } }
        .map { ReplicaAnswer(objects: objects, asOf: $0.asOf) }
    }
  }

  func partialObjects(for layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    try await layerQuery.ask(source)
  }

  func version() async throws(PersistenceError) -> ReplicaVersion {
    ReplicaVersion(invalidationCount: coverageIndex.withLock(\.invalidationCount))
  }

  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) -> Bool {
    try await mutex.withLock { () async throws(PersistenceError) in
      if refresh.order.isOutdated { return false }
      let coverage = try mappingErrors { try refresh.coverage() }
      let held = try await localObjects(matching: refresh, coverage)
      let plan = try mappingErrors { try RefreshPlan(refresh, held: held) { refresh.order.state(of: $0) } }
      if !plan.changes.isEmpty { try await source.apply(ChangeBatch(plan.changes)) }
      defer { refresh.markStored(plan) }
      try mappingErrors {
        try coverageIndex.withLock { coverageIndex in
          if case .query = refresh.layerQuery.kind, let coverage {
            try coverageIndex.forget(plan.removed, missingFrom: coverage)
          }
          guard coverageIndex.invalidationCount == refresh.version.invalidationCount else { return }
          for key in plan.confirmed { coverageIndex.record(key, asOf: refresh.asOf) }
          if case .key = refresh.layerQuery.kind {
            if let key = plan.lookedUpKey { coverageIndex.record(key, asOf: refresh.asOf) }
          } else if let coverage, plan.isWhole {
            coverageIndex.record(coverage)
          }
        }
      }
      return plan.isWhole
    }
  }

  /// The local objects of the answered region, and those of the answer.
  private func localObjects(matching refresh: Refresh<Object>, _ coverage: Coverage?)
    async throws(PersistenceError) -> [Object]
  {
    if case .key = refresh.layerQuery.kind { return try await refresh.layerQuery.ask(source) }
    var held: [Object] = []
    for part in try mappingErrors({ try refresh.changedParts() }) { held += try await source.execute(part) }
    if let part = refresh.part(coverage) { held = try await source.execute(part) }
    for object in refresh.objects(besides: held) {
      if let other = try await source.find(object.primaryKey) { held.append(other) }
    }
    return held
  }

  func prepare(_ keys: [RecordKey]) async throws(PersistenceError) {}

  func commit(
    _ changes: [ObjectChange<Object>], announcedAs keys: [RecordKey], asOf date: Date
  ) async throws(PersistenceError) {
    try await mutex.withLock { () async throws(PersistenceError) in
      if changes.count == 1 {
        switch changes[0].unconditional {
        case .delete(let object): _ = try await source.delete(object)
        case .insert(let object), .save(let object), .update(let object, _): _ = try await source.save(object)
        }
      } else {
        try await source.apply(ChangeBatch(changes.map(\.unconditional)))
      }
      coverageIndex.withLock { coverageIndex in
        for change in changes { coverageIndex.record(change.object.recordKey, asOf: date) }
      }
    }
  }

  func abort(_ keys: [RecordKey]) async {}

  func markStale(_ keys: [RecordKey]) async { coverageIndex.withLock { $0.markStale(keys) } }
}
