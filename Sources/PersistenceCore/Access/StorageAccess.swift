import PersistenceDriver

/// What a context turned out to be for a record: a store, or the inside of one of its transactions.
enum StorageAccess {
  case store(any StorageContext)
  case transaction(any StorageTransaction, root: any StorageContext)

  /// Looks at a context on behalf of a model.
  ///
  /// - Throws: `incompatibleContext` where it does not keep rows or the model does not accept it (contract E1),
  ///   `insideTransaction` where it is used inside its own transaction (R1a).
  init<Model: PersistentRecord>(_ context: any PersistentContext, for model: Model.Type) throws {
    if let inside = context as? TransactionContext {
      try Self.requireSupport(of: model, by: inside.root)
      self = .transaction(try inside.transaction(), root: inside.root)
      return
    }
    self = .store(try Self.store(context, for: model))
  }

  /// Looks at a context that is not the inside of a transaction.
  ///
  /// - Throws: As ``init(_:for:)`` does.
  static func store<Model: PersistentRecord>(
    _ context: any PersistentContext, for model: Model.Type
  ) throws -> any StorageContext {
    guard let store = context.asStorageContext else {
      throw PersistenceError.incompatibleContext(
        model, context: context, accepted: model.supportedContexts.names)
    }
    try requireSupport(of: model, by: store)
    try TransactionScope.requireOutside(of: store)
    try store.requireComplete()
    return store
  }

  private static func requireSupport<Model: PersistentRecord>(
    of model: Model.Type, by context: any PersistentContext
  ) throws {
    let supported = model.supportedContexts
    if supported.isAny { return }
    guard supported.contains(context) else {
      throw PersistenceError.incompatibleContext(model, context: context, accepted: supported.names)
    }
  }

  /// What reads: each call to a store sees its newest state, a transaction its own writes.
  var reader: any StorageReader {
    switch self {
    case .store(let store): store
    case .transaction(let transaction, _): transaction
    }
  }

  /// The store, inside a transaction or not.
  var root: any StorageContext {
    switch self {
    case .store(let store): store
    case .transaction(_, let root): root
    }
  }

  /// Writes one record or none: in a transaction of its own, or as part of the one under way, which a single
  /// call that throws leaves as it was (contract W4).
  func writeSingle(_ body: (any StorageTransaction) throws -> Void) throws {
    switch self {
    case .store(let store): try TransactionScope.enter(store) { try store.transaction(body) }
    case .transaction(let transaction, _): try body(transaction)
    }
  }

  /// Writes several records or none: in a transaction, or in a nested one.
  func writeAtomically(_ body: (any StorageTransaction) throws -> Void) throws {
    switch self {
    case .store(let store): try TransactionScope.enter(store) { try store.transaction(body) }
    case .transaction(let transaction, _): try transaction.nested { try body(transaction) }
    }
  }
}
