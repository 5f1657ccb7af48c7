import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// W1: single writes.
  static let writing: [PlantedDefect] = [
    PlantedDefect("every write fails", .w1) { flaw in
      flaw.transaction = { _, _ in throw PersistenceError(.engineFailure, "the driver is not finished") }
    },
    PlantedDefect("update inserts", .w1) { flaw in
      flaw.write = { verb, row, schema, transaction in
        try transaction.wrapped.write(verb == .update ? .save : verb, row, in: schema)
      }
    },
    PlantedDefect("insert overwrites", .w1) { flaw in
      flaw.write = { verb, row, schema, transaction in
        try transaction.wrapped.write(verb == .insert ? .save : verb, row, in: schema)
      }
    },
    PlantedDefect("save keeps an existing record", .w1) { flaw in
      flaw.write = { verb, row, schema, transaction in
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        if verb == .save, try transaction.wrapped.values(of: key, in: schema) != nil { return }
        try transaction.wrapped.write(verb, row, in: schema)
      }
    },
    PlantedDefect("update ignores fields that became nil", .w1) { flaw in
      flaw.write = { verb, row, schema, transaction in
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        let before = try transaction.wrapped.values(of: key, in: schema)
        let merged = before.map { before in zip(row, before).map { $0.isNull ? $1 : $0 } }
        try transaction.wrapped.write(verb, merged ?? row, in: schema)
      }
    },
    PlantedDefect("delete always returns true", .w1) { flaw in
      flaw.delete = { key, schema, transaction in
        _ = try transaction.wrapped.delete(key, in: schema)
        return true
      }
    },
    PlantedDefect("delete of a query ignores its limit", .w1, .o4) { flaw in
      flaw.deleteRows = { request, transaction in
        try transaction.wrapped.delete(request.with { $0.limit = nil })
      }
    },
    PlantedDefect("deleteAll deletes only one page", .w1, isSemantic: false) { flaw in
      flaw.deleteAll = { schema, transaction in
        try transaction.wrapped.delete(FetchRequest(schema, limit: 128))
      }
    },
    PlantedDefect("deleteAll deletes the following models too", .w1) { flaw in
      flaw.deleteAll = { schema, transaction in
        let following = try transaction.wrapped.catalog().filter { $0.name > schema.name }
        for other in following { _ = try transaction.wrapped.deleteAll(in: other) }
        return try transaction.wrapped.deleteAll(in: schema)
      }
    },
  ]

  /// W2, W3: transactions.
  static let transactions: [PlantedDefect] = [
    PlantedDefect("a rollback does not restore deleted records", .w3) { flaw in
      let deleted = Remembered<[(RecordKey, ModelSchema)]>([])
      flaw.delete = { key, schema, transaction in
        deleted.change { $0.append((key, schema)) }
        return try transaction.wrapped.delete(key, in: schema)
      }
      flaw.transaction = { context, body in
        deleted.change { $0 = [] }
        do {
          try context.transaction(body)
        } catch {
          let keys = deleted.value
          try? context.transaction { for (key, schema) in keys { _ = try $0.delete(key, in: schema) } }
          throw error
        }
      }
    },
    PlantedDefect("a transaction whose closure throws is committed", .w3) { flaw in
      flaw.transaction = { context, body in
        var failure: (any Error)?
        try context.transaction { transaction in
          do { try body(transaction) } catch { failure = error }
        }
        if let failure { throw failure }
      }
    },
    PlantedDefect("a nested rollback rolls back the outer transaction", .w3) { flaw in
      flaw.nested = { transaction, body in
        do {
          try body()
        } catch {
          try transaction.restoreTouched()
          throw error
        }
      }
    },
    PlantedDefect("a nested rollback does nothing", .w3) { flaw in
      flaw.nested = { _, body in try body() }
    },
    PlantedDefect("a nested transaction swallows its error", .w3) { flaw in
      flaw.nested = { transaction, body in try? transaction.wrapped.nested(body) }
    },
    PlantedDefect("reads in a transaction do not see its writes", .w3) { flaw in
      flaw.insideReader = { $0.context }
    },
    PlantedDefect("a rejected write rolls back the whole transaction", .w4, .w3) { flaw in
      flaw.write = { verb, row, schema, transaction in
        do {
          try transaction.wrapped.write(verb, row, in: schema)
        } catch {
          try transaction.restoreTouched()
          throw error
        }
      }
    },
    PlantedDefect(
      "a transaction reads a snapshot from before its lock", .w2, .w3, isSemantic: false
    ) { flaw in
      flaw.transaction = { context, body in
        let before = try context.snapshot()
        try context.transaction { try body(StaleTransaction($0, before)) }
      }
    },
    PlantedDefect("closures of transactions run twice", .w3, isSemantic: false) { flaw in
      flaw.transaction = { context, body in
        do {
          try context.transaction { transaction in
            try body(transaction)
            throw Undone()
          }
        } catch is Undone {
          try context.transaction(body)
        }
      }
    },
    PlantedDefect("every write commits separately", .w3, isSemantic: false) { flaw in
      flaw.transaction = { context, body in
        let writes = WriteRecorder()
        // The body runs once to record its writes, which then run one by one.
        do {
          try context.transaction { transaction in
            try body(RecordedTransaction(transaction, writes))
            throw Undone()
          }
        } catch is Undone {
          for write in writes.all { try context.transaction { try write.apply(to: $0) } }
        }
      }
    },
  ]
}

private struct Undone: Error {}

/// A transaction that finds records in an older state, except those that it has written.
private final class StaleTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  private let before: any StorageSnapshot
  private var written: Set<RecordKey> = []

  init(_ wrapped: any StorageTransaction, _ before: any StorageSnapshot) {
    self.wrapped = wrapped
    self.before = before
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    let reader: any StorageReader = written.contains(key) ? wrapped : before
    return try reader.find(key, in: schema, body)
  }
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    written.insert(try RecordKey(of: row, in: schema))
    try wrapped.insert(row, in: schema)
  }
  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    written.insert(try RecordKey(of: row, in: schema))
    try wrapped.update(row, in: schema)
  }
  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    written.insert(try RecordKey(of: row, in: schema))
    try wrapped.save(row, in: schema)
  }
  func update(_ request: UpdateRequest) throws -> Int { try updateEach(request) }
}
