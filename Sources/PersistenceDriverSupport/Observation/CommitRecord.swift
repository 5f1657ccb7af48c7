import PersistencePrimitives
import PersistenceDriver

/// What one transaction has changed, for each of those who observed the store when it began.
///
/// It belongs to the thread of the transaction.
final class CommitRecord {
  /// Those who observe a model, with the condition of each for rows as the writer's schema has them.
  final class Model {
    let schema: ModelSchema
    fileprivate let places: [Int]
    fileprivate let predicates: [CompiledPredicate?]
    /// Whether a row has to be seen to know whom it matters to.
    let needsRows: Bool
    /// More records than this are not told apart.
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

    /// That there is no record, which fits nobody.
    var absent: [Bool?] { Array(repeating: false, count: places.count) }

    /// That there is a record, which fits everybody who takes all.
    var present: [Bool?] { Array(repeating: true, count: places.count) }

    /// Whom a row fits; nil where that cannot be told.
    func fits(_ row: borrowing Row) -> [Bool?] {
      var fits: [Bool?] = []
      fits.reserveCapacity(predicates.count)
      for predicate in predicates {
        if let predicate { fits.append(try? predicate.matches(row)) } else { fits.append(true) }
      }
      return fits
    }
  }

  private struct Undo {
    let place: Int
    let key: RecordKey
    let entry: KeyChanges.Entry?
  }

  private let observers: [CommitObserver]
  private var changes: [KeyChanges]
  private var models: [ObjectIdentifier: Model] = [:]
  private var touched: Set<StoredName> = []
  private var undo: [Undo] = []
  /// How many undoings were forgotten, since there were too many.
  private var forgotten = 0
  /// The number of each observer's last undoing that was forgotten; −1 where there is none.
  private var lastForgotten: [Int]
  /// Whether more may have changed than was noted.
  private var hasTouchedAll = false
  private var depth = 0

  private static let undoLimit = 100_000

  init(_ observers: [CommitObserver]) {
    self.observers = observers
    changes = observers.map { KeyChanges(limit: $0.keyLimit) }
    lastForgotten = Array(repeating: -1, count: observers.count)
  }

  /// Those who observe a model and can still be told something; nil where nobody does.
  func model(_ schema: ModelSchema) -> Model? {
    let model = models[schema.identity] ?? prepare(schema)
    return model.places.contains { !changes[$0].isUnknown } ? model : nil
  }

  private func prepare(_ schema: ModelSchema) -> Model {
    let name = StoredName(schema.name)
    touched.insert(name)
    var places: [Int] = []
    var predicates: [CompiledPredicate?] = []
    for (place, observer) in observers.enumerated() where observer.model == name {
      do {
        predicates.append(try observer.predicate(for: schema))
        places.append(place)
      } catch {
        changes[place].lose()
      }
    }
    let model = Model(
      schema, places, predicates, keyLimit: places.map { observers[$0].keyLimit }.max() ?? 0)
    // The model keeps the schema, so that its identity is not given to another.
    models[schema.identity] = model
    return model
  }

  /// Notes that a record was written or deleted.
  func note(_ key: RecordKey, of model: Model, before: [Bool?], after: [Bool?]) {
    for (position, place) in model.places.enumerated() where !changes[place].isUnknown {
      guard let fitted = before[position], let fits = after[position] else {
        changes[place].lose()
        continue
      }
      guard fitted || fits else { continue }
      let known = changes[place].note(key, fitted: fitted, fits: fits)
      guard depth > 0 else { continue }
      if undo.count == Self.undoLimit { forgetUndoings() }
      undo.append(Undo(place: place, key: key, entry: known))
    }
  }

  private func forgetUndoings() {
    for (number, undoing) in undo.enumerated() { lastForgotten[undoing.place] = forgotten + number }
    forgotten += undo.count
    undo.removeAll()
  }

  /// Notes that it is not known what of a model was changed.
  func lose(_ model: Model) {
    for place in model.places { changes[place].lose() }
  }

  /// Notes that it is not known whether anything was changed, of whatever was noted.
  func loseAll() {
    for place in changes.indices where !changes[place].isEmpty { changes[place].lose() }
  }

  /// Notes that more may have changed than was noted, where anything was written.
  func loseEverything() {
    guard !touched.isEmpty else { return }
    hasTouchedAll = true
    for place in changes.indices { changes[place].lose() }
  }

  /// Runs a closure, and takes back what was noted in it where it throws.
  func nested(_ body: () throws -> Void) throws {
    let start = forgotten + undo.count
    depth += 1
    defer {
      depth -= 1
      if depth == 0 {
        undo.removeAll()
        forgotten = 0
        for place in lastForgotten.indices { lastForgotten[place] = -1 }
      }
    }
    do {
      try body()
    } catch {
      while undo.count > 0, forgotten + undo.count > start {
        let last = undo.removeLast()
        changes[last.place].restore(last.entry, for: last.key)
      }
      // What was noted before the closure may have been overwritten by what cannot be undone any more, even where
      // nothing is left of it.
      for place in changes.indices where lastForgotten[place] >= start { changes[place].lose() }
      throw error
    }
  }

  /// What an observer is told; nil where it came later.
  func changes(for observer: CommitObserver) -> KeyChanges? {
    observers.firstIndex { $0 === observer }.map { changes[$0] }
  }

  /// Whether anything of a model may have been written.
  func hasTouched(_ model: StoredName) -> Bool { hasTouchedAll || touched.contains(model) }
}
