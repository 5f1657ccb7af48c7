extension StorageContext {
  /// Makes sure that no unfinished migration is filling the store.
  ///
  /// Repositories call it before they read or write. The catalog is looked at once: a store that was found whole is
  /// taken for whole as long as the context lives, since a migration that begins in this process says so to the
  /// context's ``monitor``. What works on such a store on purpose, as the resuming of the migration does, calls the
  /// context and not a repository.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/incompleteStore`` where one is, and where the
  ///   catalog cannot be read.
  @inlinable
  public func requireComplete() throws {
    if isKnownComplete { return }
    try lookForMigration()
  }

  @usableFromInline
  func lookForMigration() throws {
    guard try !holdsUnfinishedMigration() else { throw PersistenceError.incompleteStore(location) }
    monitor.note(isComplete: true)
  }
}

extension StorageReader {
  /// Whether the state that is read is one that a migration has not finished filling.
  package func holdsUnfinishedMigration() throws -> Bool {
    guard let schema = try schema(named: ReservedModel.fillLedger) else { return false }
    // A ledger without records is one of a context that cannot drop models: the migration has been finished.
    return try count(FetchRequest(schema)) > 0
  }
}

extension PersistenceError {
  /// A store that a migration has not finished filling.
  public static func incompleteStore(_ location: String) -> PersistenceError {
    PersistenceError(
      .incompleteStore,
      "an interrupted migration left the store with only part of its records; resume that migration or start it again",
      location: location)
  }
}
