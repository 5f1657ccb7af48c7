import Foundation
import PersistenceCore
import PersistenceDriver

/// A layer below the authoritative one.
///
/// It holds a part of the objects and knows which.
///
/// A write from above has two phases: `prepare` before the upper layer writes, then `commit`, `abort` or
/// `markStale`. A kill between the phases leaves the keys stale.
protocol ReplicaLayer<Object>: Sendable {
  associatedtype Object: PersistentRecord

  /// The answer to a query; nil unless it is complete and current.
  func answer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> ReplicaAnswer<Object>?

  /// The local objects that match a query, complete or not.
  func partialObjects(for layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> [Object]

  /// The version before a better layer is queried, which comes back with its answer.
  func version() async throws(PersistenceError) -> ReplicaVersion

  /// Applies the answer of a better layer, including absences.
  ///
  /// - Returns: Whether the layer then holds the answer's state, or a newer one, of each key that the answer decides.
  @discardableResult
  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) -> Bool

  /// Announces a write of these keys by the upper layer.
  func prepare(_ keys: [RecordKey]) async throws(PersistenceError)

  /// Applies a write that the upper layer made.
  ///
  /// The keys are those of the announcement, before the upper layer assigned others.
  func commit(
    _ changes: [ObjectChange<Object>], announcedAs keys: [RecordKey], asOf date: Date
  ) async throws(PersistenceError)

  /// Ends a write that the upper layer did not make.
  func abort(_ keys: [RecordKey]) async

  /// Marks keys as stale: their state in the upper layer is unknown.
  func markStale(_ keys: [RecordKey]) async
}

/// The complete answer of a replica.
struct ReplicaAnswer<Object: PersistentRecord>: Sendable {
  var objects: [Object]
  /// The date at which the authoritative layer was known to hold these objects; nil if unknown.
  var asOf: Date?
}

/// The version of a replica before a better layer is queried.
struct ReplicaVersion: Sendable, Hashable {
  var invalidationCount = 0
  /// The number of objects that a cache has evicted.
  var evictionCount = 0
  var generation = 0
}
