import Foundation
import PersistenceCore
import PersistenceDriver

/// A layer below the store that decides: it holds a part of that, and knows which.
///
/// A write from above comes in two steps: the layer is told of it before it is made above (`intend`), and what came of it
/// afterwards (`settle`, `withdraw` or `doubt`), so that a process that is killed between the two does not leave a layer
/// that believes in what it holds.
protocol ReplicaLayer<Object>: Sendable {
  associatedtype Object: PersistentRecord

  /// What is held of a question, where that is known to be all of it; nil where it is not.
  func answer(_ question: LayerQuery<Object>) async throws(PersistenceError) -> HeldAnswer<Object>?

  /// What is held of a question, whether that is all or not.
  func held(_ question: LayerQuery<Object>) async throws(PersistenceError) -> [Object]

  /// The state before a better layer is asked, to be handed back with its answer.
  func mark() async throws(PersistenceError) -> LayerMark

  /// Takes over a better layer's answer, absences included.
  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError)

  /// A write of these keys is about to be made above.
  func intend(_ keys: [RecordKey]) async throws(PersistenceError)

  /// The write was made above: it is made here too.
  func settle(_ changes: [ObjectChange<Object>], asOf date: Date) async throws(PersistenceError)

  /// The write was not made above.
  func withdraw(_ keys: [RecordKey]) async

  /// What these keys hold above is not known here.
  func doubt(_ keys: [RecordKey]) async
}

extension ObjectChange {
  /// The change as one that fits whatever is held.
  var settled: ObjectChange {
    switch self {
    case .insert(let object), .update(let object, _), .save(let object): .save(object)
    case .delete: self
    }
  }
}

/// What has to be done here so that a layer holds what a better one answered.
struct RefreshPlan<Object: PersistentRecord> {
  private(set) var changes: [ObjectChange<Object>] = []
  /// The keys that were found as they are, whether or not they have to be written.
  private(set) var seen: [RecordKey] = []
  /// What is held and is missing from the answer: it was deleted, or is of another part now.
  private(set) var gone: [Object] = []

  /// Compares.
  ///
  /// - Parameters:
  ///   - refresh: What the better layer holds.
  ///   - held: What is held here of the same part.
  ///   - isKept: Whether what is held of a key stays as it is.
  /// - Throws: ``PersistenceError``.
  init(
    _ refresh: Refresh<Object>, held: [Object], isKept: (RecordKey) throws -> Bool
  ) throws {
    var known: [RecordKey: Object] = [:]
    for object in held { known[object.recordKey] = object }
    var saves: [ObjectChange<Object>] = []
    let hasUniqueValues = try Object.schema.model.indexes.contains(where: \.isUnique)
    for object in refresh.objects {
      let key = object.recordKey
      let mine = known.removeValue(forKey: key)
      if try isKept(key) { continue }
      seen.append(key)
      if let mine, try mine.hasSameFields(as: object) { continue }
      // What differs is taken away first, since unique values may have changed hands among the objects.
      if let mine, hasUniqueValues { changes.append(.delete(mine)) }
      saves.append(.save(object))
    }
    for (key, object) in known where try !isKept(key) { gone.append(object) }
    changes += gone.map { .delete($0) } + saves
  }
}
