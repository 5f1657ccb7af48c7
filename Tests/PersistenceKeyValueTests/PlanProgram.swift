import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceKeyValue
import PersistenceDriverSupport

/// A random program on a store, with the memory context as its oracle.
///
/// The program writes, and then executes random requests by each possible plan (NoREC, after Rigger and Su
/// 2020).
final class PlanProgram {
  private let items: RandomItems
  private let store: any PlanStore
  private let memory = MemoryContext()
  private let row: RowBuffer
  private let catalog = KeyValueStore(location: "plans", indexBuilding: .small)
  /// The number of executed plans.
  private(set) var plans = 0

  private var schema: ModelSchema { items.schema }

  init(seed: UInt64, _ store: any PlanStore) throws {
    items = try RandomItems(seed: seed)
    self.store = store
    row = RowBuffer(count: items.schema.fields.count)
  }

  /// Writes random changes to both stores.
  func change(_ count: Int) throws {
    try memory.transaction { reference in
      try reference.define(schema)
      try store.transaction { transaction in
        try transaction.define(schema)
        for _ in 0..<count { try change(transaction, reference) }
      }
    }
  }

  /// Executes random requests by all plans.
  func ask(_ count: Int) throws {
    let source = try store.source()
    try source.withReader { reader in
      let binding = try #require(try catalog.binding(schema, reader))
      for _ in 0..<count {
        let request = try items.request()
        let plans = AccessPlanner(request, indexes: binding.model.schema.indexes).all()
        let longest = reader.longestKey
        for plan in plans {
          let query = try PreparedQuery(
            request, binding, .made(plan, isReused: false), longestKey: longest, location: "plans")
          try check(query, reader, source)
        }
        try checkAggregates(of: request, plans, binding, reader)
        try checkChoice(request, source, reader)
      }
    }
  }

  /// Updates and deletes the rows of random requests by all plans, with a rollback after each.
  func changeByPlans(_ count: Int) throws {
    for _ in 0..<count {
      let rows = try items.request()
      let request = try items.update(of: rows)
      guard rows.limit != 0 else { continue }
      let expected = try inMemory { try $0.update(request) }
      let deleted = try inMemory { try $0.delete(rows) }
      for number in AccessPlanner(rows, indexes: schema.indexes).all().indices {
        plans += 1
        let found = try inStore { transaction in
          try transaction.update(request, try self.query(rows, number, transaction))
        }
        try #require(found == expected, "\(request) by plan \(number)")
        let gone = try inStore { transaction in
          try transaction.delete(try self.query(rows, number, transaction))
        }
        try #require(gone == deleted, "delete \(rows) by plan \(number)")
      }
    }
  }
}

extension PlanProgram {
  private func rows(_ results: any StorageResults, pages: Int) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    while try results.read(from: rows.count, limit: pages, { rows.append(try $0.values()) }) == pages {}
    return rows
  }

  private func check(_ query: PreparedQuery, _ reader: any ByteReader, _ source: any ByteSource) throws {
    plans += 1
    let request = query.request
    let comment: Comment = "\(request): \(query.plan)"
    let expected = try rows(try memory.fetch(request), pages: 1000)
    #expect(try query.count(reader) == expected.count, comment)
    let results = try query.results(reader, source)
    try #require(try rows(results, pages: items.random.random.int(1...9)) == expected, comment)
    #expect(try results.count() == expected.count, comment)
    let selection = items.selection()
    let selected = try query.results(reader, source, selecting: selection)
    let cut = expected.map { row in selection.map { row[$0] } }
    try #require(try rows(selected, pages: items.random.random.int(1...9)) == cut, comment)
    // A jump in a result that was read completely, and in a new one.
    let fresh = try query.results(reader, source)
    for results in [results, fresh] {
      let offset = items.random.random.int(0...expected.count + 1)
      var jumped: [[PersistentValue]] = []
      _ = try results.read(from: offset, limit: 2) { jumped.append(try $0.values()) }
      #expect(jumped == Array(expected.dropFirst(offset).prefix(2)), comment)
    }
  }

  private func checkAggregates(
    of rows: FetchRequest, _ plans: [AccessPlan], _ binding: ModelBinding, _ reader: any ByteReader
  ) throws {
    for _ in 0..<3 {
      let request = try items.aggregates(over: rows)
      let expected = outcome { try self.memory.aggregate(request) }
      let reading = AggregateReading(request: request, binding: binding, reader: reader, location: "plans")
      try #require(outcome { try reading.groups() } == expected, "\(request)")
      for plan in plans {
        let query = try PreparedQuery(
          rows, binding, .made(plan, isReused: false), longestKey: reader.longestKey, location: "plans")
        try #require(outcome { try reading.folded(query) } == expected, "\(request): \(plan)")
      }
    }
  }

  /// Checks the plan that the planner chooses.
  private func checkChoice(_ request: FetchRequest, _ source: any ByteSource, _ reader: any ByteReader) throws
  {
    let expected = try rows(try memory.fetch(request), pages: 1000)
    let plan = try catalog.plan(for: request, reader)
    #expect(try catalog.count(request, reader) == expected.count, "\(request): \(plan)")
    #expect(try rows(try catalog.results(request, source), pages: 50) == expected, "\(request): \(plan)")
    let selection = items.selection()
    let selected = try rows(try catalog.results(request, selecting: selection, source), pages: 50)
    #expect(selected == expected.map { row in selection.map { row[$0] } }, "\(request): \(plan)")
  }

  private func outcome(_ body: () throws -> [AggregateGroup]) -> String {
    do {
      return "\(try body().map { ($0.key, $0.values) })"
    } catch {
      return "\((error as? PersistenceError)?.code.rawValue ?? "\(error)")"
    }
  }
}

extension PlanProgram {
  private struct RolledBack: Error {}

  private func query(_ rows: FetchRequest, _ number: Int, _ transaction: KeyValueTransaction) throws
    -> PreparedQuery
  {
    let binding = try transaction.writableBinding(schema)
    let plan = AccessPlanner(rows, indexes: binding.model.schema.indexes).all()[number]
    return try PreparedQuery(
      rows, binding, .made(plan, isReused: false), longestKey: transaction.writer.longestKey,
      location: "plans")
  }

  /// The outcome and the effect of a change in the memory context, which is rolled back.
  private func inMemory(_ body: (any StorageTransaction) throws -> Int) throws -> [String] {
    var found: [String] = []
    do {
      try memory.transaction { transaction in
        found = try outcome(transaction) { try body(transaction) }
        throw RolledBack()
      }
    } catch is RolledBack {}
    return found
  }

  /// The same in the store.
  private func inStore(_ body: (KeyValueTransaction) throws -> Int) throws -> [String] {
    var found: [String] = []
    do {
      try store.transaction { transaction in
        found = try outcome(transaction) { try body(transaction) }
        throw RolledBack()
      }
    } catch is RolledBack {}
    return found
  }

  private func outcome(_ transaction: any StorageTransaction, _ body: () throws -> Int) throws -> [String] {
    var found: [String] = []
    do {
      found.append("\(try body())")
    } catch let error as PersistenceError {
      found.append(error.code.rawValue)
    }
    for order in schema.orders {
      // Every index is consistent, so each path finds the rows.
      let request = try FetchRequest(schema, order: order.map { FieldOrder($0) })
      found.append("\(try rows(try transaction.fetch(request), pages: 1000))")
      found.append("\(try transaction.count(request))")
    }
    return found
  }

  /// Applies one random change to both stores, whose outcomes must agree.
  private func change(_ transaction: KeyValueTransaction, _ reference: any StorageTransaction) throws {
    row.set(schema.fields.map(items.value))
    let kind = items.random.random.int(0...19)
    let request = try items.request()
    let update = try items.update(of: request)
    func apply(_ target: any StorageTransaction) throws -> String {
      switch kind {
      case 0, 1:
        return "\(try target.delete(try row.withRow { try RecordKey(of: $0, in: schema) }, in: schema))"
      case 2: return "\(try row.withRow { try target.update($0, in: schema) })"
      case 3...8: return "\(try row.withRow { try target.insert($0, in: schema) })"
      case 9 where request.limit != nil: return "\(try target.delete(request))"
      case 10: return "\(try target.update(update))"
      default: return "\(try row.withRow { try target.save($0, in: schema) })"
      }
    }
    func outcome(_ target: any StorageTransaction) throws -> String {
      do { return try apply(target) } catch let error as PersistenceError { return error.code.rawValue }
    }
    let expected = try outcome(reference)
    let found = try outcome(transaction)
    let values = try row.withRow { try $0.values() }
    try #require(found == expected, "\(kind): \(values) or \(request)")
  }
}
