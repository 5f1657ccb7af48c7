package import PersistenceDriver

/// A transaction that can do the long part of a change of schema before the change, with early commits.
///
/// An engine that keeps the pages of a transaction in memory thus needs a bounded amount for any number of records.
package protocol PreparingTransaction: StorageTransaction {
  /// Makes the records of a change, which nothing refers to until ``PersistenceDriver/StorageTransaction/evolve(_:)`` gets
  /// the same change.
  ///
  /// It has no effect unless the change rewrites all records, and the transaction has written nothing else yet. A
  /// transaction that rolls back removes what it has made; if the process ends before, a later change removes it.
  ///
  /// - Returns: Whether the long part is done.
  /// - Throws: The error of ``PersistenceDriver/SchemaChange/compute``, of ``PersistenceDriver/StoreProgress/report(_:)``, or
  ///   of the store.
  func prepare(_ change: SchemaChange) throws -> Bool
}

extension StorageTransaction {
  /// The transaction, possibly a wrapped one, that can prepare changes; nil if the engine has none.
  package var preparing: (any PreparingTransaction)? {
    self as? any PreparingTransaction ?? (self as? any StorageTransactionWrapper)?.wrapped.preparing
  }
}
