import PersistenceCore
import PersistenceDriver

/// The changes that bring a replica to the state of a better layer's answer.
struct RefreshPlan<Object: PersistentRecord> {
  private(set) var changes: [ObjectChange<Object>] = []
  /// The keys that the answer confirmed, written or not.
  private(set) var confirmed: [RecordKey] = []
  /// Local objects that are absent from the answer: deleted, or moved to another region.
  private(set) var removed: [Object] = []
  /// The keys that changes tell as deleted, and that have no local object.
  private(set) var absent: [RecordKey] = []
  /// Whether the layer then holds the answer's state, or a newer one, of each key that the answer decides.
  ///
  /// Only then may the layer record the answer as complete.
  private(set) var isWhole = true
  /// The key of a look-up whose answer replaces the layer's state; nil if the state must stay, or for a query.
  private(set) var lookedUpKey: RecordKey?

  /// Compares an answer with the local objects of the same region.
  ///
  /// `state` returns the layer's state of a key; only an older one is replaced.
  init(
    _ refresh: Refresh<Object>, held: [Object], state: (RecordKey) throws -> WriteLog.HeldState
  ) throws {
    // Once, since a write may start or end meanwhile.
    let lookUp = try refresh.layerQuery.key.map { ($0, try state($0)) }
    func heldState(_ key: RecordKey) throws -> WriteLog.HeldState {
      if let lookUp, lookUp.0 == key { lookUp.1 } else { try state(key) }
    }
    if let lookUp, lookUp.1 == .older { lookedUpKey = lookUp.0 }
    var known: [RecordKey: Object] = [:]
    for object in held { known[object.recordKey] = object }
    var saves: [ObjectChange<Object>] = []
    let hasUniqueValues = try Object.schema.model.indexes.contains(where: \.isUnique)
    for object in refresh.objects {
      let key = object.recordKey
      let mine = known.removeValue(forKey: key)
      let isSame = try mine.map { try $0.hasSameFields(as: object) } ?? false
      switch try heldState(key) {
      case .newer: continue
      case .undecided:
        if !isSame { isWhole = false }
        continue
      case .older: confirmed.append(key)
      }
      if isSame { continue }
      // Delete changed objects first, since unique values may have moved between objects.
      if let mine, hasUniqueValues { changes.append(.delete(mine)) }
      saves.append(.save(object))
    }
    for (key, object) in known {
      switch try heldState(key) {
      case .newer: continue
      case .undecided: isWhole = false
      case .older: removed.append(object)
      }
    }
    if let keys = refresh.changedKeys {
      let present = Set(refresh.objects.map(\.recordKey) + held.map(\.recordKey))
      for key in keys where !present.contains(key) {
        switch try heldState(key) {
        case .newer: continue
        case .undecided: isWhole = false
        case .older: absent.append(key)
        }
      }
    }
    changes += removed.map { .delete($0) } + saves
  }
}
