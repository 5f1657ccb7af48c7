public import PersistenceCore
public import PersistenceDriver

extension PersistentRepository {
  /// Copies the whole store, as it is at one moment, into a new store of any engine.
  ///
  /// ```swift
  /// try repository.backup(to: "sqlite:backups/monday.sqlite", engines: [.sqlite])
  /// ```
  ///
  /// Others may write meanwhile: the backup reads one snapshot. It contains everything that the store does: removed
  /// fields, the schemas' past, and the records of layers, such as writes that wait in an outbox. A backup that was
  /// interrupted is an incomplete store, which repositories refuse; backing up to the same URL again starts over.
  ///
  /// - Parameters:
  ///   - url: The URL of the backup, a store that does not exist or has no records.
  ///   - engines: The engines that the URL may name.
  ///   - verification: How to verify the backup; by digest by default.
  ///   - progress: A closure that receives the progress. If it throws, the backup stops.
  /// - Returns: The report, with the number of records of each model.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationNotEmpty`` if the store at the URL has
  ///   records, ``PersistenceError/Code/lossyMigration`` if its engine cannot store all values exactly, and any error of
  ///   reading or writing.
  /// - Complexity: Linear in the size of the store; a few megabytes of memory.
  @discardableResult
  public func backup(
    to url: String, engines: [StorageEngine], verification: MigrationOptions.Verification = .digest,
    _ progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> MigrationReport {
    let source = try storageContext()
    return try StoreBackup.withStore(url, engines) {
      try StoreBackup.copy(source, to: $0, verification: verification, progress)
    }
  }

  /// Replaces the content of this store by that of a backup.
  ///
  /// Before this store loses anything, every record of the backup is read. One transaction then empties the store and
  /// marks it as incomplete; the last transaction publishes the copy. If the restoration is interrupted in between,
  /// repositories refuse the store; restore again. Release results and observers first, and open the repository again
  /// afterwards, so that the schemas of the app meet those of the backup.
  ///
  /// - Parameters:
  ///   - url: The URL of the backup.
  ///   - engines: The engines that the URL may name.
  ///   - replacesContent: Whether this store may have records, which are then deleted.
  ///   - verification: How to verify the copy; by digest by default.
  ///   - progress: A closure that receives the progress. If it throws, the restoration stops.
  /// - Returns: The report, with the number of records of each model.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationNotEmpty`` if this store has records and
  ///   `replacesContent` is false, ``PersistenceError/Code/incompleteStore`` if the backup is not complete,
  ///   ``PersistenceError/Code/missingStore`` if it is missing, or has no models that could replace this store's, and any
  ///   error of reading or writing.
  @discardableResult
  public func restore(
    from url: String, engines: [StorageEngine], replacingContent replacesContent: Bool = false,
    verification: MigrationOptions.Verification = .digest,
    _ progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> MigrationReport {
    let destination = try storageContext()
    // Opening must not create an empty store in the place of a missing backup.
    return try StoreBackup.withStore(try StoreBackup.existing(url, engines), engines) {
      try StoreBackup.copy(
        $0, to: destination, replacesContent: replacesContent, verification: verification, progress)
    }
  }

  private func storageContext() throws -> any StorageContext {
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("be backed up", by: "a context without rows")
    }
    return store
  }
}
