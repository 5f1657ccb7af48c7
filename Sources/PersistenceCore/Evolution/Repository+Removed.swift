public import PersistenceDriver
public import PersistenceDriverSupport
import PersistencePrimitives

/// Removed fields and models, which the store keeps, hidden, until they are erased.
extension Repository {
  /// The removed fields that the store still contains, sorted by model and name.
  ///
  /// - Returns: The fields, each with its model.
  /// - Throws: ``PersistenceError``.
  public func removedFields() throws -> [RemovedContent] {
    try SchemaStore.removed(in: store()).filter { $0.field != nil }
  }

  /// The removed models that the store still contains, sorted by name.
  ///
  /// - Returns: The models.
  /// - Throws: ``PersistenceError``.
  public func removedModels() throws -> [RemovedContent] {
    try SchemaStore.removed(in: store()).filter { $0.field == nil }
  }

  /// Shows a removed field again, in one transaction.
  ///
  /// Delete the rule that removed it first: the next opening with ``EvolutionRule/remove(_:was:from:)`` removes it again.
  /// Records that were inserted in the meantime have nil in it, or the zero of its kind: false, 0, or empty text. Such
  /// zeros collide, so a required field comes back without its unique indexes; the next opening that declares one builds
  /// it.
  ///
  /// - Parameters:
  ///   - field: The stored name that the field had last.
  ///   - model: The model's name.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the store does not contain the
  ///   removed field, or another field has the name.
  public func restore(_ field: String, from model: String) throws {
    try restore(RemovedName(model: model, field: field))
  }

  /// Shows a removed model and its records again, in one transaction.
  ///
  /// - Parameter model: The name that the model had last.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the store does not contain the
  ///   removed model, or another model has the name.
  public func restore(model: String) throws {
    try restore(RemovedName(model: model, field: nil))
  }

  /// Erases removed fields and models permanently.
  ///
  /// Only this call destroys values. It rewrites the records of each model that loses a field, and removes indexes that
  /// contain an erased field. The names are never given again.
  ///
  /// The fields of each model are one transaction, and each model is one. If the call ends early, because it is cancelled
  /// or the process is killed, some of them are erased, and the others stay hidden: call it again.
  ///
  /// ```swift
  /// try repository.compact(erasing: repository.removedFields())
  /// ```
  ///
  /// - Parameters:
  ///   - removed: The fields and models, as ``removedFields()`` and ``removedModels()`` return them.
  ///   - progress: Receives the progress, on this thread, inside the transactions. If it throws, the current transaction
  ///     rolls back, and the call ends with the error.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the store does not contain one
  ///   of them any more, and ``PersistenceError/Code/unsupported`` if the engine cannot erase; nothing is erased then.
  ///   `CancellationError` if the task is cancelled, and any error of writing.
  public func compact(
    erasing removed: [RemovedContent], _ progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    let store = try store()
    try TransactionScope.enter(store) { try SchemaStore.erase(removed, in: store, progress) }
  }

  private struct RemovedName {
    let model: String
    let field: String?
  }

  private func restore(_ name: RemovedName) throws {
    let store = try store()
    try TransactionScope.enter(store) {
      try store.keepingTransaction(.exclusive) { transaction in
        let removed = try SchemaStore.removed(in: transaction).first {
          [$0.model].containsName(name.model)
            && $0.field.map(StoredName.init) == name.field.map(StoredName.init)
        }
        guard let removed else {
          throw PersistenceError(
            .invalidRequest,
            "the store does not contain a removed \(name.field.map { "\(name.model).\($0)" } ?? name.model); "
              + "removedFields() and removedModels() list what it contains", model: name.model,
            field: name.field)
        }
        try SchemaStore.restore(removed, in: transaction)
      }
    }
  }

  /// The store of a repository that is not a transaction.
  func store() throws -> any StorageContext {
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("change how it stores models", by: "\(type(of: context))")
    }
    try TransactionScope.requireOutside(of: store)
    try store.requireComplete()
    return store
  }
}
