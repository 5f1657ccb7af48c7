package import PersistenceDriver

extension StorageContext {
  /// Runs a closure as one transaction that keeps the references of the store.
  ///
  /// All programs that write records use it, except migrations, which check a whole store when it is complete. A store
  /// without references costs one look-up in the catalog.
  ///
  /// - Parameters:
  ///   - mode: Whether other writers run beside the closure, which may then run more than once.
  ///   - declares: Whether the closure may declare references.
  ///   - body: The work.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/brokenReference``, and as
  ///   ``PersistenceDriver/StorageContext/transaction(_:_:)`` does.
  package func keepingTransaction(
    _ mode: TransactionMode, declares: Bool = false, _ body: (any StorageTransaction) throws -> Void
  ) throws {
    // The schemas of references are those of the store, so the mapping comes on top.
    if type(of: self) == FittedContext.self, let fitted = self as? FittedContext {
      return try fitted.wrapped.keepingTransaction(mode, declares: declares) { try body(fitted.wrap($0)) }
    }
    try transaction(mode) { transaction in
      guard try declares || ReferenceLedger.exists(in: transaction) else { return try body(transaction) }
      let keeper = KeepingTransaction(transaction, location: location)
      try body(keeper)
      try keeper.finish()
    }
  }
}
