import PersistenceDriver

extension Migration {
  /// Builds the indexes of a model that were to wait for its records, in as many transactions as the destination wants.
  ///
  /// - Parameters:
  ///   - route: The model.
  ///   - entry: What the ledger knows of it, until they are built.
  ///   - indexed: What the ledger is to know then.
  ///   - progress: Told before each transaction; what it throws stops building, which can be resumed.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  func buildIndexes(
    of route: ModelRoute, _ entry: LedgerEntry, then indexed: LedgerEntry,
    _ progress: (MigrationProgress) throws -> Void
  ) throws {
    var isBuilt = false
    while !isBuilt {
      if !route.destination.indexes.isEmpty {
        try progress(
          MigrationProgress(phase: .indexing, model: route.source.name, done: 0, total: entry.now.count))
      }
      try destination.transaction { transaction in
        try Ledger.require(entry, in: transaction, location: destination.location)
        isBuilt = try transaction.buildIndexes(of: route.destination)
        if isBuilt { try Ledger.save(indexed, in: transaction) }
      }
    }
  }
}
