import PersistenceDriver
import PersistencePrimitives

/// A reference that a declaration has begun.
struct NewReference {
  var reference: StoredReference
  /// The model to which the field referred before; nil if it referred to none.
  let formerTarget: String?
  /// Whether the store had records of the model when the reference began.
  let hadRecords: Bool
}

/// The references that a transaction must check before it commits: hints, by target and key.
///
/// A hint that no longer applies costs one look-up. So a nested transaction that rolls back discards only its own, and
/// nothing else is undone.
struct ReferenceNotes {
  /// The number of keys after which those of existing records are removed.
  private static let limit = 10_000

  private struct Level {
    var keys: [StoredName: Set<PersistentValue>] = [:]
    var count = 0
    var threshold = ReferenceNotes.limit
  }

  private var levels = [Level()]
  /// The models whose referrers are all checked, because the model was dropped.
  private(set) var wholeTargets: Set<StoredName> = []
  /// The fields of which all records are checked, because they are references since this transaction.
  private(set) var newReferences: [NewReference] = []

  /// Whether a level has so many keys that the caller removes those of existing records.
  var isFull: Bool { levels[levels.count - 1].count >= levels[levels.count - 1].threshold }

  /// Adds a key that some record refers to.
  mutating func add(_ key: PersistentValue, of target: StoredName) {
    let top = levels.count - 1
    if levels[top].keys[target, default: []].insert(key).inserted { levels[top].count += 1 }
  }

  /// Adds all keys of a model.
  mutating func addAll(of target: StoredName) { wholeTargets.insert(target) }

  /// Adds what was noted of a model under its new name.
  ///
  /// The notes under the earlier name stay: a nested transaction may undo the rename.
  mutating func copy(of name: StoredName, to other: StoredName) {
    for level in levels.indices {
      for key in levels[level].keys[name] ?? [] {
        if levels[level].keys[other, default: []].insert(key).inserted { levels[level].count += 1 }
      }
    }
    if wholeTargets.contains(name) { wholeTargets.insert(other) }
  }

  /// Adds the new references of a model under the names that they have after a change.
  mutating func copyNewReferences(_ change: SchemaChange) {
    for new in newReferences where StoredName(new.reference.model) == StoredName(change.stored.name) {
      guard let field = change.name(of: new.reference.field) else { continue }
      var renamed = new
      (renamed.reference.model, renamed.reference.field) = (change.target.name, field)
      if !renamed.reference.hasField(of: new.reference) { add(renamed) }
    }
  }

  /// Adds all records of a field that has become a reference.
  mutating func add(_ new: NewReference) {
    newReferences.removeAll { $0.reference.hasField(of: new.reference) }
    newReferences.append(new)
  }

  /// The keys of the innermost nested transaction.
  ///
  /// Keys of outer ones stay: what exists now may go with the nested transaction.
  var newest: [StoredName: Set<PersistentValue>] { levels[levels.count - 1].keys }

  /// Replaces the keys of the innermost nested transaction by those that are still to be checked.
  mutating func keep(_ keys: [StoredName: Set<PersistentValue>]) {
    let count = keys.values.reduce(0) { $0 + $1.count }
    levels[levels.count - 1] = Level(keys: keys, count: count, threshold: max(Self.limit, 2 * count))
  }

  mutating func beginNested() { levels.append(Level()) }

  /// Ends a nested transaction, whose keys are the outer one's if it is kept.
  mutating func endNested(isKept: Bool) {
    let inner = levels.removeLast()
    guard isKept else { return }
    for (target, keys) in inner.keys {
      for key in keys { add(key, of: target) }
    }
  }
}
