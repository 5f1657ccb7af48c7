import Logging
package import PersistenceDriver
import PersistencePrimitives

extension StorageReader {
  /// The models with indexes that wait to be built, and these indexes; without removed models.
  package func unbuiltIndexes() throws -> [(schema: ModelSchema, indexes: [IndexSchema])] {
    try catalog().compactMap { schema in
      guard !schema.isPlaceholder, !ModelHistory.isRemoved(schema.name), !schema.indexes.isEmpty else {
        return nil
      }
      let indexes = try unbuiltIndexes(of: schema)
      return indexes.isEmpty ? nil : (schema, indexes)
    }
  }
}

extension StorageContext {
  /// Logs that indexes wait, because queries that need them are slow.
  package func noteUnbuiltIndexes() throws {
    let names = try snapshot().unbuiltIndexes().flatMap { schema, indexes in
      indexes.map { "\(schema.name) (\($0.fields.joined(separator: ", ")))" }
    }
    guard !names.isEmpty else { return }
    monitor.logger.notice(
      "indexes wait, and no query uses them; call finishIndexes()",
      metadata: ["indexes": "\(names.joined(separator: "; "))"])
  }

  /// Logs the declared indexes that the store lacks: without a unique one, values may collide.
  package func noteAbsentIndexes(_ mapping: SchemaMapping) {
    let indexes = mapping.absentIndexes
    if indexes.isEmpty { return }
    monitor.logger.warning(
      "the store lacks declared indexes, which another version removed",
      metadata: [
        "model": "\(mapping.declared.name)",
        "indexes": "\(indexes.map(\.description).joined(separator: "; "))",
      ])
  }

  /// Builds all indexes that wait, in many transactions, so that other writers wait for a short time only (contract S9).
  ///
  /// The committed part of the work is kept if the call ends early. Another call continues it, also in another process.
  ///
  /// - Parameter progress: Receives the progress, on this thread. If it throws, the current transaction rolls back.
  /// - Throws: ``PersistenceError``, `CancellationError` if the task is cancelled, and the closure's error.
  package func finishIndexes(_ progress: (StoreProgress) throws -> Void = { _ in }) throws {
    for (schema, _) in try snapshot().unbuiltIndexes() {
      var last: LongWork?
      var isBuilt = false
      while !isBuilt {
        try transaction { transaction in
          // Another program may have changed the model, or have finished its indexes.
          guard let current = try transaction.schema(named: schema.name),
            try !transaction.unbuiltIndexes(of: current).isEmpty
          else { return isBuilt = true }
          let work = try LongWork(.indexing, current.name, of: current, in: transaction)
          isBuilt = try work.part(progress) { try transaction.buildIndexes(of: current) }
          last = work
        }
      }
      if let last { try last.report(last.total, progress) }
    }
  }
}
