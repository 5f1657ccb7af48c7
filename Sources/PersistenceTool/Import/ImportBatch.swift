import PersistenceDriver
import PersistenceDriverSupport

/// A record that was read, and is ready to be stored.
struct PendingRecord {
  let place: String
  let values: [PersistentValue]

  /// Why the record waits, or is rejected.
  var problem: String?

  func with(_ problem: String) -> PendingRecord {
    PendingRecord(place: place, values: values, problem: problem)
  }
}

/// Stores records of an import together, in one transaction.
struct ImportBatch {
  /// What became of the records.
  struct Outcome {
    /// The number of stored records.
    var stored = 0
    /// The records whose references lead nowhere yet.
    var late: [PendingRecord] = []
    /// The records that the store refused.
    var rejects: [PendingRecord] = []
  }

  /// Rolls back a transaction that refused records to which others of it refer.
  private struct RefusedTargets: Error {
    let positions: Set<Int>
  }

  private let schema: ModelSchema
  private let references: ImportReferences
  private let row: RowBuffer

  init(_ schema: ModelSchema, _ references: ImportReferences) {
    self.schema = schema
    self.references = references
    row = RowBuffer(count: schema.fields.count)
  }

  /// Stores all records but those whose references lead nowhere, and those that the store refuses.
  ///
  /// Only the insert shows that the store refuses a record. Then the records that refer to it are late: the store is
  /// filled again without them. Each attempt excludes more records than the one before.
  func store(_ records: [PendingRecord], in store: any StorageContext) throws -> Outcome {
    var refused: Set<Int> = []
    while true {
      do {
        var outcome = Outcome()
        try store.keepingTransaction(.replayable) { transaction in
          outcome = try attempt(records, besides: refused, in: transaction)
        }
        return outcome
      } catch let error as RefusedTargets {
        refused.formUnion(error.positions)
      }
    }
  }

  private func attempt(
    _ records: [PendingRecord], besides refused: Set<Int>, in transaction: any StorageTransaction
  ) throws -> Outcome {
    var outcome = Outcome()
    var batch: [Int] = []
    let problems = try references.problems(of: records.map(\.values), besides: refused, in: transaction)
    for (position, problem) in problems.enumerated() {
      if let problem { outcome.late.append(records[position].with(problem)) } else { batch.append(position) }
    }
    var unexpected: Set<Int> = []
    let isDone = try transaction.insertTogether(batch.count, in: schema) { index, insert in
      row.set(records[batch[index]].values)
      try row.withRow(insert)
    }
    for position in isDone ? [] : batch {
      row.set(records[position].values)
      do {
        try row.withRow { try transaction.insert($0, in: schema) }
      } catch let error as PersistenceError where Self.concernsOneRecord(error) {
        outcome.rejects.append(records[position].with(error.message))
        if !refused.contains(position) { unexpected.insert(position) }
      }
    }
    if !unexpected.isEmpty {
      let keys = Set(unexpected.map { references.key(of: records[$0].values) })
      let areTargets = batch.contains { references.refer(records[$0].values, toAnyOf: keys) }
      if areTargets { throw RefusedTargets(positions: unexpected) }
    }
    outcome.stored = batch.count - outcome.rejects.count
    return outcome
  }

  /// Whether an error concerns one record only, so that the others can be stored.
  private static func concernsOneRecord(_ error: PersistenceError) -> Bool {
    [.duplicateKey, .uniqueViolation, .valueTooLarge, .encodingFailed, .unsupported].contains(error.code)
  }
}
