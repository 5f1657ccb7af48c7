import PersistencePrimitives
import PersistenceDriver

/// The changes of one transaction, for each observer that the store had when it began.
///
/// Only the thread of the transaction uses it.
final class CommitRecord {
  /// The observers of a model, each with its condition for rows of the writer's schema.
  final class Model {
    let schema: ModelSchema
    fileprivate let places: [Int]
    fileprivate let predicates: [CompiledPredicate?]
    /// Whether an observer has a condition, which needs the row.
    let needsRows: Bool
    /// The greatest key limit of the observers.
    let keyLimit: Int

    fileprivate init(
      _ schema: ModelSchema, _ places: [Int], _ predicates: [CompiledPredicate?], keyLimit: Int
    ) {
      self.schema = schema
      self.places = places
      self.predicates = predicates
      self.keyLimit = keyLimit
      needsRows = predicates.contains { $0 != nil }
    }

    /// The matches of an absent record: none.
    var absent: [Bool?] { Array(repeating: false, count: places.count) }

    /// The matches of a record, if no observer has a condition.
    var present: [Bool?] { Array(repeating: true, count: places.count) }

    /// Whether each observer's condition matches a row; nil if the evaluation fails.
    func matches(_ row: borrowing Row) -> [Bool?] {
      var matches: [Bool?] = []
      matches.reserveCapacity(predicates.count)
      for predicate in predicates {
        if let predicate { matches.append(try? predicate.matches(row)) } else { matches.append(true) }
      }
      return matches
    }
  }

  private struct Undo {
    let place: Int
    let key: RecordKey
    let entry: KeyChanges.Entry?
  }

  private let observers: [CommitObserver]
  /// What each observer observed when the transaction began.
  private let targets: [CommitObserver.Target]
  /// The names before and after of the models whose schemas changed.
  private(set) var changedSchemas: [(StoredName, StoredName)] = []
  private var changes: [KeyChanges]
  private var models: [ObjectIdentifier: Model] = [:]
  private var touched: Set<StoredName> = []
  private var undo: [Undo] = []
  /// The number of undo entries that were discarded to respect the limit.
  private var discarded = 0
  /// The number of each observer's last discarded undo entry; −1 if there is none.
  private var lastDiscarded: [Int]
  /// Whether records beyond the recorded ones may have changed.
  private var hasTouchedAll = false
  private var depth = 0

  private static let undoLimit = 100_000

  init(_ observers: [CommitObserver]) {
    self.observers = observers
    targets = observers.map(\.target)
    changes = observers.map { KeyChanges(limit: $0.keyLimit) }
    lastDiscarded = Array(repeating: -1, count: observers.count)
  }

  /// The observers of a model; nil if there are none, or the changes of each are already unknown.
  func model(_ schema: ModelSchema) -> Model? {
    let model = models[schema.identity] ?? prepare(schema)
    return model.places.contains { !changes[$0].isUnknown } ? model : nil
  }

  private func prepare(_ schema: ModelSchema) -> Model {
    let name = StoredName(schema.name)
    touched.insert(name)
    var places: [Int] = []
    var predicates: [CompiledPredicate?] = []
    for (place, target) in targets.enumerated() where isObserved(name, by: target) {
      // The condition may mean other fields of a changed schema.
      guard !hasChanged(name) else {
        changes[place].discardKeys()
        continue
      }
      do {
        predicates.append(try target.predicate(for: schema))
        places.append(place)
      } catch {
        changes[place].discardKeys()
      }
    }
    let model = Model(
      schema, places, predicates, keyLimit: places.map { observers[$0].keyLimit }.max() ?? 0)
    // The model retains the schema, so that no other schema gets its identity.
    models[schema.identity] = model
    return model
  }

  /// Records that a record was written or deleted.
  func note(_ key: RecordKey, of model: Model, before: [Bool?], after: [Bool?]) {
    for (position, place) in model.places.enumerated() where !changes[place].isUnknown {
      guard let matchedBefore = before[position], let matchesNow = after[position] else {
        changes[place].discardKeys()
        continue
      }
      guard matchedBefore || matchesNow else { continue }
      let known = changes[place].record(key, matchedBefore: matchedBefore, matchesNow: matchesNow)
      guard depth > 0 else { continue }
      if undo.count == Self.undoLimit { discardUndoEntries() }
      undo.append(Undo(place: place, key: key, entry: known))
    }
  }

  private func discardUndoEntries() {
    for (number, entry) in undo.enumerated() { lastDiscarded[entry.place] = discarded + number }
    discarded += undo.count
    undo.removeAll()
  }

  /// Marks the changes of a model as unknown.
  func discardKeys(of model: Model) {
    for place in model.places { changes[place].discardKeys() }
  }

  /// Marks the changes of each observer that has some as unknown.
  func discardRecordedKeys() {
    for place in changes.indices where !changes[place].isEmpty { changes[place].discardKeys() }
  }

  /// Marks the changes of all observers as unknown, if the transaction wrote anything.
  func discardAllKeys() {
    guard !touched.isEmpty else { return }
    hasTouchedAll = true
    for place in changes.indices { changes[place].discardKeys() }
  }

  /// Runs a closure; if it throws, reverts the changes recorded in it.
  func nested(_ body: () throws -> Void) throws {
    let start = discarded + undo.count
    depth += 1
    defer {
      depth -= 1
      if depth == 0 {
        undo.removeAll()
        discarded = 0
        for place in lastDiscarded.indices { lastDiscarded[place] = -1 }
      }
    }
    do {
      try body()
    } catch {
      while undo.count > 0, discarded + undo.count > start {
        let last = undo.removeLast()
        changes[last.place].restore(last.entry, for: last.key)
      }
      // A discarded undo entry may hold a change from before the closure, so these changes are unknown.
      for place in changes.indices where lastDiscarded[place] >= start { changes[place].discardKeys() }
      throw error
    }
  }

  /// The changes for an observer; nil if it was added, or its model changed, after the transaction began.
  func changes(for observer: CommitObserver) -> KeyChanges? {
    guard let place = observers.firstIndex(where: { $0 === observer }), !observer.isStale,
      observer.target.version == targets[place].version
    else { return nil }
    return changes[place]
  }

  /// Whether anything of a model may have been written.
  func hasTouched(_ model: StoredName) -> Bool { hasTouchedAll || touched.contains(model) }

  /// Whether anything of some models may have been written.
  func hasTouched(_ models: Set<StoredName>) -> Bool { hasTouchedAll || !touched.isDisjoint(with: models) }

  /// Whether an observer observes a model.
  func observes(_ schema: ModelSchema) -> Bool {
    targets.contains { isObserved(StoredName(schema.name), by: $0) }
  }

  /// Records that the schema of a model has changed, and that its records may have been rewritten.
  func schemaChanged(_ change: SchemaChange, rewrites: Bool) {
    let names = (StoredName(change.stored.name), StoredName(change.target.name))
    changedSchemas.append(names)
    // Later writes of this transaction have another schema, and are unknown to the observers of before.
    models.removeAll()
    guard rewrites else { return }
    touched.formUnion([names.0, names.1])
    for (place, target) in targets.enumerated() where isObserved(names.1, by: target) {
      changes[place].discardKeys()
    }
  }

  /// Whether the schema of a model has changed in this transaction.
  private func hasChanged(_ model: StoredName) -> Bool {
    changedSchemas.contains { $0.0 == model || $0.1 == model }
  }

  /// Whether an observer observes a model, under a name of before this transaction or the present one.
  private func isObserved(_ model: StoredName, by target: CommitObserver.Target) -> Bool {
    if target.models.contains(model) { return true }
    if changedSchemas.isEmpty { return false }
    var names = target.models
    for (before, after) in changedSchemas where names.contains(before) { names.insert(after) }
    return names.contains(model)
  }
}
