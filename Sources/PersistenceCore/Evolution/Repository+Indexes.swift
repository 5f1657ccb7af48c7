public import PersistenceDriver
import PersistenceDriverSupport

/// Indexes that wait to be built.
extension Repository {
  /// The indexes that the store declares and has not built yet.
  ///
  /// No query uses them, so queries that need them are slow. Writes are unaffected.
  ///
  /// - Returns: The stored names of each index's fields, by the name of the model; empty if all indexes are built.
  /// - Throws: ``PersistenceError``.
  public func unfinishedIndexes() throws -> [String: [[String]]] {
    let unbuilt = try store().snapshot().unbuiltIndexes()
    return Dictionary(uniqueKeysWithValues: unbuilt.map { ($0.schema.name, $0.indexes.map(\.fields)) })
  }

  /// Builds the indexes that wait, and returns when all are built.
  ///
  /// An opening with a schema leaves a new index of a large model unbuilt, unless it is unique. Call this method after the
  /// opening, now or in the background:
  ///
  /// ```swift
  /// Task.detached(priority: .background) { try repository.finishIndexes() }
  /// ```
  ///
  /// Other threads and processes read and write in the meantime. If the call ends early, because it is cancelled or the
  /// process is killed, the work on each finished index is kept, and on LMDB also most of the others. Another call
  /// continues it. Without waiting indexes, nothing is written.
  ///
  /// The calling thread blocks. LMDB writes 10,000 records in a transaction; SQLite builds each index in one transaction,
  /// for which other writers wait.
  ///
  /// - Parameter progress: Receives the progress, on this thread, inside the transactions. If it throws, the current
  ///   transaction rolls back, and the call ends with the error.
  /// - Throws: ``PersistenceError``, `CancellationError` if the task is cancelled, and the error of `progress`.
  /// - Complexity: O(*n* log *n*) for *n* records of the models with waiting indexes.
  public func finishIndexes(_ progress: (StoreProgress) throws -> Void = { _ in }) throws {
    let store = try store()
    try TransactionScope.enter(store) { try store.finishIndexes(progress) }
  }
}
