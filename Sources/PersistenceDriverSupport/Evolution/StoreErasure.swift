package import PersistenceDriver
import PersistencePrimitives

extension SchemaStore {
  /// Erases removed fields and models: the fields of each model in one transaction, and each model in one (contract S8).
  ///
  /// Any transaction may be the last: what it has erased stays erased, and everything else stays hidden. The ledger keeps
  /// the names, which are never given again (contract S3).
  ///
  /// - Parameters:
  ///   - removed: The fields and models.
  ///   - context: The store.
  ///   - progress: Receives the progress. If it throws, the current transaction rolls back.
  /// - Throws: ``PersistenceError`` with code `invalidRequest` if the store does not hide one of them; nothing is erased
  ///   then.
  package static func erase(
    _ removed: [RemovedContent], in context: any StorageContext,
    _ progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    let snapshot = try context.snapshot()
    for content in removed { _ = try schema(of: content, snapshot) }
    for batch in batches(removed) {
      try context.keepingTransaction(.exclusive) { try erase(batch, in: $0, progress) }
    }
  }

  /// The parts of an erasure: the fields of each model together, and each model alone, sorted by name.
  private static func batches(_ removed: [RemovedContent]) -> [[RemovedContent]] {
    var seen: Set<RemovedContent> = []
    let removed = removed.filter { seen.insert($0).inserted }
    let fields = Dictionary(grouping: removed.filter { $0.field != nil }) { StoredName($0.model) }
    return fields.sorted { $0.key < $1.key }.map(\.value) + removed.filter { $0.field == nil }.map { [$0] }
  }

  private static func erase(
    _ batch: [RemovedContent], in transaction: any StorageTransaction,
    _ progress: (StoreProgress) throws -> Void
  ) throws {
    guard let first = batch.first else { return }
    let stored = try schema(of: first, transaction)
    guard first.field != nil else {
      try LongWork(.erasing, first.model, of: stored, in: transaction).whole(progress) {
        try transaction.drop(stored)
      }
      return
    }
    for field in batch where stored.position(of: field.hiddenName) == nil { throw absent(field) }
    let names = batch.map(\.hiddenName)
    let kept = stored.fields.indices.filter { !names.containsName(stored.fields[$0].name) }
    let target = try ModelSchema(
      name: stored.name, fields: kept.map { stored.fields[$0] }, key: stored.key,
      indexes: stored.indexes.filter { !$0.fields.contains(where: names.containsName) })
    let change = try SchemaChange(from: stored, to: target, sources: kept.map { .field($0) })
    try LongWork(.erasing, stored.name, of: stored, in: transaction).whole(progress) {
      try transaction.evolve(change)
    }
    var history = try SchemaLedger.history(of: stored.name, transaction) ?? ModelHistory(model: stored.name)
    history.leave(stored.fingerprint)
    try SchemaLedger.write(history, replacing: stored.name, in: transaction)
  }
}
