import PersistenceCore

/// A run of a program on the reference model, with the expected results.
struct FuzzReferenceRun {
  private enum Held {
    case rows([[PersistentValue]])
    case snapshot(FuzzReference)
  }

  private struct RolledBack: Error {}

  let schemas: [ModelSchema]
  /// The requests that read the whole store.
  private let contentQueries: [FuzzQuery]
  private let isVersioned: Bool
  private(set) var reference = FuzzReference()
  private var held: [Int: Held] = [:]

  init(_ program: FuzzProgram) {
    schemas = program.schemas
    contentQueries = FuzzContent.queries(program)
    isVersioned = program.isVersioned
    reference.relations = program.relations.map { relation in
      FuzzReference.Relation(
        model: schemas[relation.model].name, field: relation.field, target: schemas[relation.target].name,
        rule: relation.rule)
    }
  }

  mutating func run(_ step: FuzzStep, at place: Int) -> [FuzzOutcome] {
    var outcomes: [FuzzOutcome] = []
    run(step, at: [place], isInside: false, &outcomes)
    if !isVersioned {
      if step.changesStore { content(of: reference, [place], &outcomes) }
    } else if case .declared(let words, let inner) = step, step.changesStore, let model = inner.model {
      let value: FuzzOutcome.Value
      do {
        value = .rows(try reference.seen(by: schemas[model], words).rows(FuzzQuery(model), schemas))
      } catch {
        value = .code(Self.code(error))
      }
      outcomes.append(FuzzOutcome([place], FuzzContent.label, value))
    }
    return outcomes
  }

  private mutating func run(_ step: FuzzStep, at path: [Int], isInside: Bool, _ outcomes: inout [FuzzOutcome])
  {
    let before = reference
    do {
      switch step {
      case .transaction(let steps, let ending):
        for (number, step) in steps.enumerated() { run(step, at: path + [number], isInside: true, &outcomes) }
        if ending == .rollback { throw RolledBack() }
        try requireWhole(isInside)
        outcomes.append(FuzzOutcome(path, step.name, .done))
      case .define, .evolve, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows,
        .deleteAll:
        let value = try write(step)
        try requireWhole(isInside)
        outcomes.append(FuzzOutcome(path, step.name, value))
      case .holdResult(let number, let query): held[number] = .rows(try reference.rows(query, schemas))
      case .holdSnapshot(let number): held[number] = .snapshot(reference)
      case .readHeld(let number): readHeld(number, path, &outcomes)
      case .fetchHeld(let number, let query):
        guard case .snapshot(let snapshot)? = held[number] else { return }
        try fetch(query, snapshot, path, &outcomes)
      case .release(let number): held[number] = nil
      case .interrupted: outcomes.append(FuzzOutcome(path, step.name, .done))
      case .reopen: held = [:]
      case .find(let model, let key):
        let row = try reference.find(key, in: schemas[model])
        outcomes.append(FuzzOutcome(path, "find", .rows(row.map { [$0] } ?? [])))
      case .fetch(let query): try fetch(query, reference, path, &outcomes)
      case .read(let query, let runs):
        let rows = try reference.rows(query, schemas)
        for run in runs {
          outcomes.append(
            FuzzOutcome(path, "read", .rows(Array(rows.dropFirst(run.lowerBound).prefix(run.count)))))
        }
        outcomes.append(FuzzOutcome(path, "count of the result", .number(rows.count)))
      case .pages(let query, _):
        let rows = try reference.rows(query, schemas)
        outcomes.append(FuzzOutcome(path, "pages joined", .rows(rows)))
      case .sorted(let query, let related, let isDescending, _):
        let rows = try reference.rows(query, schemas, by: related, isDescending: isDescending)
        outcomes.append(FuzzOutcome(path, "sorted rows", .rows(rows)))
        outcomes.append(FuzzOutcome(path, "count of the request", .number(rows.count)))
        outcomes.append(FuzzOutcome(path, "pages joined", .rows(rows)))
      case .collection(let query, let pageSize, let part):
        guard !isInside else { return }
        try FuzzCollection(query: query, pageSize: pageSize, part: part).look(at: reference, path, &outcomes)
      case .select(let query, let positions, let number):
        guard let reference = store(number) else { return }
        let rows = try reference.rows(query, schemas, selecting: positions)
        outcomes.append(FuzzOutcome(path, "selected fields", .rows(rows)))
        outcomes.append(FuzzOutcome(path, "count of the result", .number(rows.count)))
        outcomes.append(FuzzOutcome(path, "selected fields by a plan made anew", .rows(rows)))
      case .declared(let words, let inner):
        try declared(inner, words, at: path, isInside: isInside, &outcomes)
      case .aggregate(let query, let grouping, let aggregates, let number):
        guard let reference = store(number) else { return }
        let groups = try reference.groups(query, schemas, by: grouping, aggregates)
        outcomes.append(FuzzOutcome(path, "groups", .rows(groups)))
        outcomes.append(FuzzOutcome(path, "groups by a plan made anew", .rows(groups)))
      }
    } catch {
      if case .saveMany = step, isInside {
        // The rows before the rejected one stay, because each is a write of its own.
      } else if step.changesStore {
        reference = before
      }
      outcomes.append(FuzzOutcome(path, step.name, .code(Self.code(error))))
    }
    if isInside, case .transaction = step { content(of: reference, path, &outcomes) }
  }

  /// A transaction that leaves a reference without its record commits nothing.
  private func requireWhole(_ isInside: Bool) throws {
    guard isInside || reference.isWhole else { throw FuzzReference.Refusal(.brokenReference) }
  }

  private mutating func declared(
    _ step: FuzzStep, _ words: FuzzWords, at path: [Int], isInside: Bool, _ outcomes: inout [FuzzOutcome]
  ) throws {
    if step.changesStore {
      return outcomes.append(FuzzOutcome(path, step.name, try reference.write(step, words, schemas)))
    }
    var number: Int?
    if case .fetchHeld(let held, _) = step { number = held }
    guard let model = step.model, let store = store(number) else { return }
    // An invalid request is rejected whatever the store contains.
    if let query = step.query { _ = try reference.check(query, schemas) }
    switch step {
    case .find(let model, let key): _ = try FuzzReference().find(key, in: schemas[model])
    case .select(let query, let positions, _):
      _ = try FuzzReference().rows(query, schemas, selecting: positions)
    case .aggregate(let query, let grouping, let aggregates, _):
      _ = try FuzzReference().groups(query, schemas, by: grouping, aggregates)
    default: break
    }
    let seen = try store.seen(by: schemas[model], words)
    if number != nil, let query = step.query { return try fetch(query, seen, path, &outcomes) }
    let before = reference
    reference = seen
    run(step, at: path, isInside: isInside, &outcomes)
    reference = before
  }

  private static func code(_ error: any Error) -> String {
    switch error {
    case let error as FuzzReference.Refusal: error.code.rawValue
    case is FuzzFunction.Failure: FuzzFunction.Failure.code
    default: FuzzSubject.rollback
    }
  }

  private mutating func write(_ step: FuzzStep) throws -> FuzzOutcome.Value {
    switch step {
    case .define(let model): try reference.define(schemas[model])
    case .evolve(let model, let change): try reference.evolve(model, change, schemas)
    case .insert(let model, let row): try reference.write(row, in: schemas[model], .absent)
    case .update(let model, let row): try reference.write(row, in: schemas[model], .present)
    case .save(let model, let row): try reference.write(row, in: schemas[model], .either)
    case .saveMany(let model, let rows):
      for row in rows { try reference.write(row, in: schemas[model], .either) }
    case .delete(let model, let key): return .truth(try reference.delete(key, in: schemas[model]))
    case .deleteRows(let query): return .number(try reference.deleteRows(query, schemas))
    case .updateRows(let query, let assignments):
      return .number(try reference.updateRows(query, schemas, set: assignments))
    case .deleteAll(let model): return .number(try reference.deleteAll(in: schemas[model]))
    default: break
    }
    return .done
  }

  private func fetch(
    _ query: FuzzQuery, _ reference: FuzzReference, _ path: [Int], _ outcomes: inout [FuzzOutcome]
  ) throws {
    let rows = try reference.rows(query, schemas)
    outcomes.append(FuzzOutcome(path, "rows", .rows(rows)))
    outcomes.append(FuzzOutcome(path, "count of the result", .number(rows.count)))
    outcomes.append(FuzzOutcome(path, "count of the request", .number(rows.count)))
    outcomes.append(FuzzOutcome(path, "rows of one pass", .rows(rows)))
    outcomes.append(FuzzOutcome(path, "rows by a plan made anew", .rows(rows)))
    outcomes.append(FuzzOutcome(path, "count by a plan made anew", .number(rows.count)))
    outcomes.append(FuzzOutcome(path, "rows by the raw evaluator", .rows(rows)))
  }

  /// Returns the content of the snapshot stored under a number, nil if there is none, or of the store without
  /// a number.
  private func store(_ number: Int?) -> FuzzReference? {
    guard let number else { return reference }
    if case .snapshot(let snapshot)? = held[number] { return snapshot }
    return nil
  }

  private func readHeld(_ number: Int, _ path: [Int], _ outcomes: inout [FuzzOutcome]) {
    switch held[number] {
    case nil: break
    case .rows(let rows):
      outcomes.append(FuzzOutcome(path, "rows of the held result", .rows(rows)))
      outcomes.append(FuzzOutcome(path, "count of the result", .number(rows.count)))
    case .snapshot(let snapshot): content(of: snapshot, path, &outcomes)
    }
  }

  private func content(of reference: FuzzReference, _ path: [Int], _ outcomes: inout [FuzzOutcome]) {
    outcomes.append(FuzzOutcome(path, "catalog", .names(reference.catalog)))
    for query in contentQueries {
      // A schema that differs from the store's is rejected.
      let value: FuzzOutcome.Value
      do {
        value = .rows(try reference.rows(query, schemas))
      } catch {
        value = .code(Self.code(error))
      }
      outcomes.append(FuzzOutcome(path, FuzzContent.label, value))
    }
  }
}

/// The requests that read the whole store: each model by key and by each index.
enum FuzzContent {
  static let label = "content"

  static func queries(_ program: FuzzProgram) -> [FuzzQuery] {
    let schemas = program.schemas
    let targets = Set(program.changes.map(\.change.target))
    var queries: [FuzzQuery] = []
    for (model, schema) in schemas.enumerated() {
      // The same model in another declaration gives the same rows, unless its schema changes.
      let isOther = schemas.prefix(model).contains { FuzzValue.isSameName($0.name, schema.name) }
      if isOther, !targets.contains(model) { continue }
      queries.append(FuzzQuery(model))
      for (number, index) in schema.indexes.enumerated() {
        queries.append(
          FuzzQuery(model, order: index.fields.map { FieldOrder($0, isDescending: number % 2 == 1) }))
      }
    }
    return queries
  }
}
