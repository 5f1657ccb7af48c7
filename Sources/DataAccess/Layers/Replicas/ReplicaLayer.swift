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
  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError)

  /// Announces a write of these keys by the upper layer.
  func prepare(_ keys: [RecordKey]) async throws(PersistenceError)

  /// Applies a write that the upper layer made.
  func commit(_ changes: [ObjectChange<Object>], asOf date: Date) async throws(PersistenceError)

  /// Ends a write that the upper layer did not make.
  func abort(_ keys: [RecordKey]) async

  /// Marks keys as stale: their state in the upper layer is unknown.
  func markStale(_ keys: [RecordKey]) async
}

extension ObjectChange {
  /// The change without its condition.
  var unconditional: ObjectChange {
    switch self {
    case .insert(let object), .update(let object, _), .save(let object): .save(object)
    case .delete: self
    }
  }
}

/// The changes that bring a replica to the state of a better layer's answer.
struct RefreshPlan<Object: PersistentRecord> {
  private(set) var changes: [ObjectChange<Object>] = []
  /// The keys that the answer confirmed, written or not.
  private(set) var confirmed: [RecordKey] = []
  /// Local objects that are absent from the answer: deleted, or moved to another region.
  private(set) var removed: [Object] = []

  /// Compares an answer with the local objects of the same region; the state of a kept key must stay.
  init(_ refresh: Refresh<Object>, held: [Object], isKept: (RecordKey) throws -> Bool) throws {
    var known: [RecordKey: Object] = [:]
    for object in held { known[object.recordKey] = object }
    var saves: [ObjectChange<Object>] = []
    let hasUniqueValues = try Object.schema.model.indexes.contains(where: \.isUnique)
    for object in refresh.objects {
      let key = object.recordKey
      let mine = known.removeValue(forKey: key)
      if try isKept(key) { continue }
      confirmed.append(key)
      if let mine, try mine.hasSameFields(as: object) { continue }
      // Delete changed objects first, since unique values may have moved between objects.
      if let mine, hasUniqueValues { changes.append(.delete(mine)) }
      saves.append(.save(object))
    }
    for (key, object) in known where try !isKept(key) { removed.append(object) }
    changes += removed.map { .delete($0) } + saves
  }
}
