import Foundation
import PersistenceCore
import PersistenceDriverSupport

/// A run of a program on one context, with the results of each step.
final class FuzzSubject {
  /// The error code that marks an intended rollback.
  static let rollback = "rolled back as asked"

  private enum Held {
    case rows(any StorageResults)
    case snapshot(any StorageSnapshot)
  }

  struct RolledBack: Error {}

  private struct Declared: Hashable {
    let model: Int
    let words: FuzzWords
  }

  let context: ContextUnderTest
  let schemas: [ModelSchema]
  /// The requests that read the whole store.
  let contentQueries: [FuzzQuery]
  private let isVersioned: Bool
  /// The number of related keys above which conditions on related records are decided by record.
  let fewKeys: Int
  private let store: StoreUnderTest
  /// One context, or two of one store, which take turns.
  private var contexts: [any StorageContext]
  private var turn = 0
  private var storage: any StorageContext { contexts[turn] }
  private var held: [Int: Held] = [:]
  /// The mappings of declarations that differ from the stored schemas.
  private var fits: [Declared: SchemaFits] = [:]

  init(_ context: ContextUnderTest, _ program: FuzzProgram, fewKeys: Int) throws {
    self.context = context
    self.fewKeys = fewKeys
    schemas = program.schemas
    contentQueries = FuzzContent.queries(program)
    isVersioned = program.isVersioned
    store = try context.makeStore()
    contexts = [try store.open().storage]
    if program.relations.isEmpty { return }
    try storage.transaction { transaction in
      for relation in program.relations {
        let stored = StoredReference(
          model: schemas[relation.model].name, field: relation.field, target: schemas[relation.target].name,
          rule: relation.rule)
        try ReferenceLedger.save(stored, in: transaction)
      }
    }
  }

  func remove() {
    held = [:]
    for context in contexts { try? context.close() }
    try? FileManager.default.removeItem(at: store.folder)
  }

  /// Chooses the context for a step: every two steps the other one, if several may open the store.
  private func takeTurns(at place: Int) throws {
    let capabilities = contexts[0].capabilities
    guard !isVersioned, capabilities.isMultiProcess, capabilities.isDurable else { return }
    turn = place / 2 % 2
    if turn == contexts.count { contexts.append(try store.open().storage) }
  }

  func run(_ step: FuzzStep, at place: Int) -> [FuzzOutcome] {
    var outcomes: [FuzzOutcome] = []
    let path = [place]
    do {
      try takeTurns(at: place)
      switch step {
      case .transaction(let steps, let ending):
        try storage.keepingTransaction(.exclusive) { try run(steps, ending, in: $0, path, &outcomes) }
        outcomes.append(FuzzOutcome(path, step.name, .done))
      case .define, .evolve, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows,
        .deleteAll:
        var value = FuzzOutcome.Value.done
        try storage.keepingTransaction(.replayable) { value = try write(step, $0) }
        outcomes.append(FuzzOutcome(path, step.name, value))
      case .declared(let words, .define(let model)) where words.past != nil:
        try open(model, words)
        outcomes.append(FuzzOutcome(path, step.name, .done))
      case .declared(let words, let inner) where step.changesStore:
        var value = FuzzOutcome.Value.done
        let fits = fits(inner, words)
        try storage.transaction { value = try write(inner, FittedTransaction($0, fits)) }
        outcomes.append(FuzzOutcome(path, step.name, value))
      case .declared(let words, let inner):
        try declared(inner, FittedContext(storage, fits(inner, words)), words, path, &outcomes)
      case .collection(let query, let pageSize, let part):
        try FuzzCollection(query: query, pageSize: pageSize, part: part).look(at: storage, path, &outcomes)
      case .holdResult(let number, let query):
        held[number] = .rows(try storage.fetch(try query.request(in: schemas, fewKeys: fewKeys, by: storage)))
      case .holdSnapshot(let number): held[number] = .snapshot(try storage.snapshot())
      case .release(let number): held[number] = nil
      case .reopen:
        held = [:]
        fits = [:]
        if storage.capabilities.isDurable {
          turn = 0
          for context in contexts { try context.close() }
          contexts = [try store.open().storage]
        }
      default: try read(step, storage, path, &outcomes)
      }
    } catch {
      outcomes.append(FuzzOutcome(path, step.name, .code(Self.code(error))))
    }
    if !isVersioned {
      if step.changesStore { content(storage, path, &outcomes) }
    } else if case .declared(let words, let inner) = step, step.changesStore, let model = inner.model {
      seen(model, FittedContext(storage, fits(inner, words)), path, &outcomes)
    }
    return outcomes
  }

  private func run(
    _ steps: [FuzzStep], _ ending: FuzzStep.Ending, in transaction: any StorageTransaction, _ path: [Int],
    _ outcomes: inout [FuzzOutcome]
  ) throws {
    for (number, step) in steps.enumerated() {
      let path = path + [number]
      do {
        switch step {
        case .transaction(let steps, let ending):
          try transaction.nested { try run(steps, ending, in: transaction, path, &outcomes) }
          outcomes.append(FuzzOutcome(path, step.name, .done))
        case .define, .evolve, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows,
          .deleteAll:
          outcomes.append(FuzzOutcome(path, step.name, try write(step, transaction)))
        case .declared(let words, let inner) where step.changesStore:
          let value = try write(inner, FittedTransaction(transaction, fits(inner, words)))
          outcomes.append(FuzzOutcome(path, step.name, value))
        case .declared(let words, let inner):
          let reader = FittedTransaction(transaction, fits(inner, words))
          try declared(inner, reader, words, path, &outcomes)
        default: try read(step, transaction, path, &outcomes)
        }
      } catch {
        outcomes.append(FuzzOutcome(path, step.name, .code(Self.code(error))))
      }
      if case .transaction = step { content(transaction, path, &outcomes) }
    }
    if ending == .rollback { throw RolledBack() }
  }
}

extension FuzzSubject {
  private func read(
    _ step: FuzzStep, _ reader: any StorageReader, _ path: [Int], _ outcomes: inout [FuzzOutcome]
  ) throws {
    switch step {
    case .find(let model, let key):
      var rows: [[PersistentValue]] = []
      let isFound = try reader.find(RecordKey(key), in: schemas[model]) { rows.append(try $0.values()) }
      if isFound == rows.isEmpty {
        outcomes.append(FuzzOutcome(path, "find's answer, with \(rows.count) rows", .truth(isFound)))
      }
      outcomes.append(FuzzOutcome(path, "find", .rows(rows)))
    case .fetch(let query): try fetch(query, reader, path, &outcomes)
    case .fetchHeld(let number, let query):
      guard case .snapshot(let snapshot)? = held[number] else { return }
      try fetch(query, snapshot, path, &outcomes)
    case .readHeld(let number):
      switch held[number] {
      case nil: break
      case .rows(let results):
        outcomes.append(FuzzOutcome(path, "rows of the held result", .rows(try Self.rows(of: results))))
        outcomes.append(FuzzOutcome(path, "count of the result", .number(try results.count())))
      case .snapshot(let snapshot): content(snapshot, path, &outcomes)
      }
    case .read(let query, let runs):
      let results = try reader.fetch(try query.request(in: schemas, fewKeys: fewKeys, by: reader))
      for run in runs {
        var rows: [[PersistentValue]] = []
        let count = try results.read(from: run.lowerBound, limit: run.count) { rows.append(try $0.values()) }
        if count != rows.count {
          outcomes.append(FuzzOutcome(path, "read's answer, with \(rows.count) rows", .number(count)))
        }
        outcomes.append(FuzzOutcome(path, "read", .rows(rows)))
      }
      outcomes.append(FuzzOutcome(path, "count of the result", .number(try results.count())))
    case .pages(let query, let pageSize):
      outcomes.append(FuzzOutcome(path, "pages joined", .rows(try pages(of: query, pageSize, reader))))
    case .sorted(let query, let related, let isDescending, let pageSize):
      let sorted = query.query(in: schemas, by: related, isDescending: isDescending)
      let answered = try sorted.answered(by: reader)
      let rows = try Self.rows(of: answered.fetch())
      outcomes.append(FuzzOutcome(path, "sorted rows", .rows(rows)))
      outcomes.append(FuzzOutcome(path, "count of the request", .number(try answered.count())))
      outcomes.append(FuzzOutcome(path, "pages joined", .rows(try pages(of: sorted, pageSize, reader))))
    case .select(let query, let positions, let number):
      guard let reader = self.reader(reader, number) else { return }
      let request = try query.request(in: schemas, fewKeys: fewKeys, by: reader)
      let results = try reader.fetch(request, selecting: positions)
      outcomes.append(FuzzOutcome(path, "selected fields", .rows(try Self.rows(of: results))))
      outcomes.append(FuzzOutcome(path, "count of the result", .number(try results.count())))
      let anew = try reader.fetch(request.plannedAnew, selecting: positions)
      outcomes.append(
        FuzzOutcome(path, "selected fields by a plan made anew", .rows(try Self.rows(of: anew))))
    case .aggregate(let query, let grouping, let aggregates, let number):
      guard let reader = self.reader(reader, number) else { return }
      let rows = try query.request(in: schemas, fewKeys: fewKeys, by: reader)
      for (label, rows) in [("groups", rows), ("groups by a plan made anew", rows.plannedAnew)] {
        let groups = try reader.aggregate(
          try AggregateRequest(rows, grouping: grouping, aggregates: aggregates))
        outcomes.append(FuzzOutcome(path, label, .rows(groups.map { $0.key + $0.values })))
      }
    case .interrupted(let step, let check):
      let interruption = ReadInterruption(
        atCheck: check, PersistenceError(.timedOut, "the fuzzer interrupts this read"))
      var ignored: [FuzzOutcome] = []
      // An invalid request is an error in its own steps.
      try? interruption.run { try read(step, reader, path, &ignored) }
      outcomes.append(FuzzOutcome(path, "interrupted", .done))
    default: break
    }
  }

  private func declared(
    _ step: FuzzStep, _ reader: any StorageReader, _ words: FuzzWords, _ path: [Int],
    _ outcomes: inout [FuzzOutcome]
  ) throws {
    guard case .fetchHeld(let number, let query) = step else {
      return try read(step, reader, path, &outcomes)
    }
    guard case .snapshot(let snapshot)? = held[number] else { return }
    try fetch(query, FittedContext(storage, fits(step, words)).wrap(snapshot), path, &outcomes)
  }

  /// Opens the store as a version of an app does, or restores a removed field.
  private func open(_ model: Int, _ words: FuzzWords) throws {
    let opened = fits(.define(model), words)
    // Other programs compare the store anew when they open it.
    fits = [:]
    try storage.transaction { transaction in
      guard let name = words.past?.restored else {
        return try opened.evolve(schemas[model], limit: .rewrite, in: transaction)
      }
      let removed = try SchemaStore.removed(in: transaction).first { removed in
        removed.field.map { FuzzValue.isSameName($0, name.name) } ?? false
      }
      guard let removed else { throw PersistenceError.invalidRequest("nothing to restore") }
      try SchemaStore.restore(removed, in: transaction)
    }
  }

  private func seen(
    _ model: Int, _ reader: any StorageReader, _ path: [Int], _ outcomes: inout [FuzzOutcome]
  ) {
    let value: FuzzOutcome.Value
    do {
      value = .rows(try Self.rows(of: try reader.fetch(FetchRequest(schemas[model]))))
    } catch {
      value = .code(Self.code(error))
    }
    outcomes.append(FuzzOutcome(path, FuzzContent.label, value))
  }

  /// Returns the mappings of a step's declaration, which stay in use until the store is reopened.
  private func fits(_ step: FuzzStep, _ words: FuzzWords) -> SchemaFits {
    let model = step.model ?? 0
    let declared = Declared(model: model, words: words)
    if let known = fits[declared] { return known }
    let made = SchemaFits(location: storage.location)
    made.declare(words.declaration(of: schemas[model]))
    fits[declared] = made
    return made
  }

  /// Returns the snapshot stored under a number, nil if there is none, or the given reader without a number.
  private func reader(_ reader: any StorageReader, _ number: Int?) -> (any StorageReader)? {
    guard let number else { return reader }
    if case .snapshot(let snapshot)? = held[number] { return snapshot }
    return nil
  }

  private func fetch(
    _ query: FuzzQuery, _ reader: any StorageReader, _ path: [Int], _ outcomes: inout [FuzzOutcome]
  ) throws {
    let request = try query.request(in: schemas, fewKeys: fewKeys, by: reader)
    let results = try reader.fetch(request)
    outcomes.append(FuzzOutcome(path, "rows", .rows(try Self.rows(of: results))))
    outcomes.append(FuzzOutcome(path, "count of the result", .number(try results.count())))
    outcomes.append(FuzzOutcome(path, "count of the request", .number(try reader.count(request))))
    outcomes.append(
      FuzzOutcome(path, "rows of one pass", .rows(try Self.rowsOfOnePass(request, from: reader))))
    // A plan that the context keeps for a shape may not show in the answer.
    let anew = request.plannedAnew
    outcomes.append(
      FuzzOutcome(path, "rows by a plan made anew", .rows(try Self.rows(of: anew, from: reader))))
    outcomes.append(FuzzOutcome(path, "count by a plan made anew", .number(try reader.count(anew))))
    outcomes.append(FuzzOutcome(path, "rows by the raw evaluator", .rows(try evaluated(request, reader))))
  }
}
