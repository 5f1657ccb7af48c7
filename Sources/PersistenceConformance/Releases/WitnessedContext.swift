import PersistenceCore
import PersistenceDriverSupport
import Synchronization

/// A store while an opening changes it: notes transactions and the models that steps write, and runs a closure at each
/// moment at which a kill could hit.
final class WitnessedContext: StorageContextWrapper {
  private struct Notes {
    var transactions = 0
    var writes = 0
    var writtenModels: Set<StoredName> = []
  }

  /// A moment is that before or after the commit, or any other one.
  typealias Moment = @Sendable (_ isCommit: Bool) throws -> Void

  /// A step may write many records, one like the other.
  private static let writesPerMoment = 32

  let wrapped: any StorageContext
  private let notes = Mutex(Notes())
  private let moment: Moment

  init(_ wrapped: any StorageContext, at moment: @escaping Moment = { _ in }) {
    self.wrapped = wrapped
    self.moment = moment
  }

  var transactions: Int { notes.withLock { $0.transactions } }

  /// Whether a step has written records of a model.
  func hasWritten(_ names: [String]) -> Bool {
    notes.withLock { notes in names.contains { notes.writtenModels.contains(StoredName($0)) } }
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    notes.withLock { $0.transactions += 1 }
    try wrapped.transaction(mode) { transaction in
      try body(WitnessedTransaction(transaction, self))
      try moment(true)
    }
    try moment(true)
  }

  fileprivate func note(_ schema: ModelSchema) throws {
    let isMoment = notes.withLock { notes in
      if !schema.isReserved { notes.writtenModels.insert(StoredName(schema.name)) }
      notes.writes += 1
      return notes.writes % Self.writesPerMoment == 1
    }
    if isMoment { try moment(false) }
  }

  fileprivate func change(_ body: () throws -> Void) throws {
    try body()
    try moment(false)
  }

  /// The change, with a moment after the tenth record that it computes.
  fileprivate func interrupting(_ change: SchemaChange) throws -> SchemaChange {
    guard let compute = change.compute else { return change }
    let moment = moment
    let count = Mutex(0)
    var witnessed = try SchemaChange(
      from: change.stored, to: change.target, sources: change.sources, computeSources: change.computeSources
    ) { row, values in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 10 { try moment(false) }
      try compute(row, values)
    }
    witnessed.defersIndexes = change.defersIndexes
    return witnessed
  }
}

private final class WitnessedTransaction: StorageTransactionWrapper, PreparingTransaction {
  let wrapped: any StorageTransaction
  private let witness: WitnessedContext

  init(_ wrapped: any StorageTransaction, _ witness: WitnessedContext) {
    self.wrapped = wrapped
    self.witness = witness
  }

  func define(_ schema: ModelSchema) throws { try witness.change { try wrapped.define(schema) } }

  func prepare(_ change: SchemaChange) throws -> Bool {
    guard let preparing = wrapped.preparing else { return false }
    return try preparing.prepare(witness.interrupting(change))
  }

  func evolve(_ change: SchemaChange) throws {
    let change = try witness.interrupting(change)
    try witness.change { try wrapped.evolve(change) }
  }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
    try witness.note(schema)
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.update(row, in: schema)
    try witness.note(schema)
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.save(row, in: schema)
    try witness.note(schema)
  }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    let isDeleted = try wrapped.delete(key, in: schema)
    try witness.note(schema)
    return isDeleted
  }

  func delete(_ request: FetchRequest) throws -> Int {
    let count = try wrapped.delete(request)
    try witness.note(request.schema)
    return count
  }

  func update(_ request: UpdateRequest) throws -> Int {
    let count = try wrapped.update(request)
    try witness.note(request.rows.schema)
    return count
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    let count = try wrapped.deleteAll(in: schema)
    try witness.note(schema)
    return count
  }
}
