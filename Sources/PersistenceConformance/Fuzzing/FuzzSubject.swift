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

  private struct RolledBack: Error {}

  let context: ContextUnderTest
  private let schemas: [ModelSchema]
  private let store: StoreUnderTest
  private var storage: any StorageContext
  private var held: [Int: Held] = [:]

  /// Opens a new store.
  init(_ context: ContextUnderTest, _ schemas: [ModelSchema]) throws {
    self.context = context
    self.schemas = schemas
    store = try context.makeStore()
    storage = try store.open().storage
  }

  /// Closes the store and removes it.
  func remove() {
    held = [:]
    try? storage.close()
    try? FileManager.default.removeItem(at: store.folder)
  }

  /// Runs one step outside any transaction.
  func run(_ step: FuzzStep, at place: Int) -> [FuzzOutcome] {
    var outcomes: [FuzzOutcome] = []
    let path = [place]
    do {
      switch step {
      case .transaction(let steps, let ending):
        try storage.transaction { try run(steps, ending, in: $0, path, &outcomes) }
        outcomes.append(FuzzOutcome(path, step.name, .done))
      case .define, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows, .deleteAll:
        var value = FuzzOutcome.Value.done
        try storage.transaction { value = try write(step, $0) }
        outcomes.append(FuzzOutcome(path, step.name, value))
      case .collection(let query, let pageSize, let part):
        try FuzzCollection(query: query, pageSize: pageSize, part: part).look(at: storage, path, &outcomes)
      case .holdResult(let number, let query):
        held[number] = .rows(try storage.fetch(try query.request(in: schemas)))
      case .holdSnapshot(let number): held[number] = .snapshot(try storage.snapshot())
      case .release(let number): held[number] = nil
      case .reopen:
        held = [:]
        if storage.capabilities.isDurable {
          try storage.close()
          storage = try store.open().storage
        }
      default: try read(step, storage, path, &outcomes)
      }
    } catch {
      outcomes.append(FuzzOutcome(path, step.name, .code(Self.code(error))))
    }
    if step.changesStore { content(storage, path, &outcomes) }
    return outcomes
  }

  private static func code(_ error: any Error) -> String {
    switch error {
    case let error as PersistenceError: error.code.rawValue
    case is RolledBack: rollback
    default: "\(type(of: error)), which is not a PersistenceError: \(error)"
    }
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
        case .define, .insert, .update, .save, .saveMany, .delete, .deleteRows, .updateRows, .deleteAll:
          outcomes.append(FuzzOutcome(path, step.name, try write(step, transaction)))
        default: try read(step, transaction, path, &outcomes)
        }
      } catch {
        outcomes.append(FuzzOutcome(path, step.name, .code(Self.code(error))))
      }
      if case .transaction = step { content(transaction, path, &outcomes) }
    }
    if ending == .rollback { throw RolledBack() }
  }

  private func write(_ step: FuzzStep, _ transaction: any StorageTransaction) throws -> FuzzOutcome.Value {
    func put(_ row: [PersistentValue], _ body: (borrowing Row) throws -> Void) throws {
      let buffer = RowBuffer(count: row.count)
      buffer.set(row)
      try buffer.withRow(body)
    }
    switch step {
    case .define(let model): try transaction.define(schemas[model])
    case .insert(let model, let row): try put(row) { try transaction.insert($0, in: schemas[model]) }
    case .update(let model, let row): try put(row) { try transaction.update($0, in: schemas[model]) }
    case .save(let model, let row): try put(row) { try transaction.save($0, in: schemas[model]) }
    case .saveMany(let model, let rows):
      for row in rows { try put(row) { try transaction.save($0, in: schemas[model]) } }
    case .delete(let model, let key):
      return .truth(try transaction.delete(RecordKey(key), in: schemas[model]))
    case .deleteRows(let query): return .number(try transaction.delete(try query.request(in: schemas)))
    case .updateRows(let query, let assignments):
      return .number(
        try transaction.update(try UpdateRequest(try query.request(in: schemas), set: assignments)))
    case .deleteAll(let model): return .number(try transaction.deleteAll(in: schemas[model]))
    default: break
    }
    return .done
  }
}

extension FuzzSubject {
  /// The number of rows per read, which is the page size of collections.
  private static let page = 128

  /// More rows than any model has; a context that returns more never ends.
  static let endless = 2_000

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
      let results = try reader.fetch(try query.request(in: schemas))
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
    case .select(let query, let positions, let number):
      guard let reader = self.reader(reader, number) else { return }
      let results = try reader.fetch(try query.request(in: schemas), selecting: positions)
      outcomes.append(FuzzOutcome(path, "selected fields", .rows(try Self.rows(of: results))))
      outcomes.append(FuzzOutcome(path, "count of the result", .number(try results.count())))
    case .aggregate(let query, let grouping, let aggregates, let number):
      guard let reader = self.reader(reader, number) else { return }
      let rows = try query.request(in: schemas)
      let groups = try reader.aggregate(
        try AggregateRequest(rows, grouping: grouping, aggregates: aggregates))
      outcomes.append(FuzzOutcome(path, "groups", .rows(groups.map { $0.key + $0.values })))
    default: break
    }
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
    let request = try query.request(in: schemas)
    let results = try reader.fetch(request)
    outcomes.append(FuzzOutcome(path, "rows", .rows(try Self.rows(of: results))))
    outcomes.append(FuzzOutcome(path, "count of the result", .number(try results.count())))
    outcomes.append(FuzzOutcome(path, "count of the request", .number(try reader.count(request))))
    outcomes.append(FuzzOutcome(path, "rows by the raw evaluator", .rows(try evaluated(request, reader))))
  }

  /// Reads all rows of a result, page by page, until a page is short.
  private static func rows(of results: any StorageResults) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    while true {
      let before = rows.count
      let count = try results.read(from: before, limit: page) { rows.append(try $0.values()) }
      if count < page || rows.count == before || rows.count > endless { return rows }
    }
  }

  /// Answers the request with the shared evaluator over all rows of the model.
  private func evaluated(_ request: FetchRequest, _ reader: any StorageReader) throws -> [[PersistentValue]] {
    let predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    let order = try RowOrder(request.totalOrder, in: request.schema)
    var found: [(key: [PersistentValue], row: [PersistentValue])] = []
    let all = try reader.fetch(try FetchRequest(request.schema))
    let buffer = RowBuffer(count: request.schema.fields.count)
    for row in try Self.rows(of: all) {
      buffer.set(row)
      try buffer.withRow { if try predicate.matches($0) { found.append((try order.key(of: $0), row)) } }
    }
    found.sort { order.compare($0.key, $1.key) < 0 }
    return found.dropFirst(request.offset).prefix(request.limit ?? found.count).map(\.row)
  }

  /// Reads the request's rows page by page, each after the last row of the previous page.
  private func pages(of query: FuzzQuery, _ pageSize: Int, _ reader: any StorageReader) throws
    -> [[PersistentValue]]
  {
    var rows: [[PersistentValue]] = []
    var page = query
    page.limit = min(pageSize, query.limit ?? pageSize)
    while true {
      let found = try Self.rows(of: try reader.fetch(try page.request(in: schemas)))
      rows += found
      let rest = query.limit.map { $0 - rows.count }
      guard found.count == page.limit, let last = found.last, rest ?? 1 > 0, rows.count <= Self.endless else {
        return rows
      }
      page.after = try FuzzReference.criteria(query, schemas[query.model]).map { last[$0.0] }
      page.offset = 0
      page.limit = min(pageSize, rest ?? pageSize)
    }
  }

  private func content(_ reader: any StorageReader, _ path: [Int], _ outcomes: inout [FuzzOutcome]) {
    let catalog: FuzzOutcome.Value
    do {
      catalog = .names(try reader.catalog().map(FuzzReference.text))
    } catch {
      catalog = .code(Self.code(error))
    }
    outcomes.append(FuzzOutcome(path, "catalog", catalog))
    for query in FuzzContent.queries(schemas) {
      let value: FuzzOutcome.Value
      do {
        value = .rows(try Self.rows(of: try reader.fetch(try query.request(in: schemas))))
      } catch {
        value = .code(Self.code(error))
      }
      outcomes.append(FuzzOutcome(path, FuzzContent.label, value))
    }
  }
}
