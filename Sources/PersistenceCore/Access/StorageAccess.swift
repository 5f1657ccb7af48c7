public import PersistenceDriver

/// The access that a context gives to a record type: a store, or a running transaction.
enum StorageAccess {
  case store(any StorageContext)
  case transaction(any StorageTransaction, root: any StorageContext)

  /// Resolves the access of a model to a context.
  ///
  /// - Throws: `incompatibleContext` if the context does not store rows or the model does not accept it (contract E1),
  ///   `insideTransaction` if it is used inside its own transaction (R1a).
  init<Model: PersistentRecord>(_ context: any PersistentContext, for model: Model.Type) throws {
    if let inside = context as? TransactionContext {
      try Self.requireSupport(of: model, by: inside.root)
      self = .transaction(try inside.transaction(), root: inside.root)
      return
    }
    self = .store(try Self.store(context, for: model))
  }

  /// The store of a context that is not a transaction.
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

  /// The reader: a store, which returns its newest state, or a transaction, which returns its own writes.
  var reader: any StorageReader {
    switch self {
    case .store(let store): store
    case .transaction(let transaction, _): transaction
    }
  }

  /// The store, also of a transaction.
  var root: any StorageContext {
    switch self {
    case .store(let store): store
    case .transaction(_, let root): root
    }
  }

  /// Performs a single write, in a new transaction or as part of the running one.
  ///
  /// A single write that throws leaves the transaction unchanged (contract W4).
  func writeSingle(_ body: (any StorageTransaction) throws -> Void) throws {
    switch self {
    case .store(let store): try TransactionScope.enter(store) { try store.transaction(body) }
    case .transaction(let transaction, _): try body(transaction)
    }
  }

  /// Performs several writes atomically, in a new transaction or in a nested one.
  func writeAtomically(_ body: (any StorageTransaction) throws -> Void) throws {
    switch self {
    case .store(let store): try TransactionScope.enter(store) { try store.transaction(body) }
    case .transaction(let transaction, _): try transaction.nested { try body(transaction) }
    }
  }
}

/// A reader with the location of its store.
@usableFromInline
struct LocatedReader {
  @usableFromInline let reader: any StorageReader
  /// The store of a transaction; nil if the reader is the store.
  ///
  /// A second reference to the store would add a contended reference count.
  private let root: (any StorageContext)?

  /// Creates a reader of a transaction in a store or, if that is nil, of a store.
  init(_ reader: any StorageReader, of root: (any StorageContext)?) {
    self.reader = reader
    self.root = root
  }

  /// Resolves the access of a model to a context.
  @usableFromInline
  init<Model: PersistentRecord>(_ context: any PersistentContext, for model: Model.Type) throws {
    if context is TransactionContext {
      let access = try StorageAccess(context, for: model)
      self.init(access.reader, of: access.root)
    } else {
      self.init(try StorageAccess.store(context, for: model), of: nil)
    }
  }

  /// An error with the affected record.
  @usableFromInline
  func located(_ error: any Error, _ key: RecordKey, _ schema: ModelSchema) -> any Error {
    let store = root ?? reader as? any StorageContext
    return (error as? PersistenceError)?.at(model: schema.name, key: key, location: store?.location) ?? error
  }
}
