public import PersistenceDriver
import PersistenceDriverSupport

/// The access that a context gives to a record type: a store, or a running transaction.
enum StorageAccess {
  /// A store, with whether the model has references.
  case store(any StorageContext, declares: Bool)
  case transaction(any StorageTransaction, in: TransactionContext)

  /// Resolves the access of a model to a context (contract E1, R1a).
  init(_ context: any PersistentContext, for model: RecordType) throws {
    if let inside = context as? TransactionContext {
      try Self.requireSupport(of: model.type, by: inside.root)
      let transaction = try inside.transaction(declares: model.hasReferences)
      if model.hasFormerNames { try inside.root.settle(model.type.declaration, transaction) }
      self = .transaction(
        try inside.root.fits(with: model.type, model.schema).map { FittedTransaction(transaction, $0) }
          ?? transaction,
        in: inside)
      return
    }
    self = .store(
      try Self.store(context, for: model.type, model.schema, hasFormerNames: model.hasFormerNames),
      declares: model.hasReferences)
  }

  /// The store of a context that is not a transaction.
  ///
  /// The caller reads the schema, which is nil if it is not valid, and whether the model had other names, where that costs
  /// least.
  static func store(
    _ context: any PersistentContext, for model: any PersistentRecord.Type, _ schema: ModelSchema?,
    hasFormerNames: Bool
  ) throws -> any StorageContext {
    guard let store = context.asStorageContext else {
      throw PersistenceError.incompatibleContext(
        model, context: context, accepted: model.supportedContexts.names)
    }
    // Asked first: as an argument of the other type, the store would be retained, which readers contend for.
    if !model.supportedContexts.isAny { try requireSupport(of: model, by: store) }
    try TransactionScope.requireOutside(of: store)
    if store.isKnownComplete, !hasFormerNames { return store }
    try store.requireComplete()
    if hasFormerNames { try store.settle(model.declaration, store) }
    return try store.fits(with: model, schema).map { FittedContext(store, $0) } ?? store
  }

  /// Calls a closure with the access of a model to a context; once more, with a mapping, if the store contains another
  /// schema of the model (contract S1).
  static func with<Result>(
    _ context: any PersistentContext, for model: RecordType, _ body: (StorageAccess) throws -> Result
  ) throws -> Result {
    let access = try StorageAccess(context, for: model)
    do {
      return try body(access)
    } catch let error as PersistenceError where error.code == .schemaMismatch {
      return try body(access.fitted(for: model, after: error, in: context))
    }
  }

  /// Calls a closure with the access of a model and of related ones, as ``with(_:for:_:)`` does.
  static func with<Result>(
    _ context: any PersistentContext, for model: RecordType, relating related: [any PersistentRecord.Type],
    _ body: (StorageAccess) throws -> Result
  ) throws -> Result {
    if related.isEmpty { return try with(context, for: model, body) }
    for other in related { try other.requireAccess(to: context) }
    var access = try StorageAccess(context, for: model)
    // Each declaration may need a mapping once. Most queries need none.
    var declarations: [ModelDeclaration]?
    while true {
      do {
        return try body(access)
      } catch let error as PersistenceError where error.code == .schemaMismatch && error.differences.isEmpty {
        var left = try declarations ?? ([model.type] + related).map { try $0.declaration }
        guard let index = left.firstIndex(where: { $0.schema.name == error.model }) else { throw error }
        access.root.adopt(left.remove(at: index))
        declarations = left
        access = try StorageAccess(context, for: model)
      }
    }
  }

  /// Calls a closure with the request of a query and its access to a context.
  ///
  /// Most queries ask of one model. They find out that an order is related when no field has its name.
  static func withRequest<Result>(
    of options: RequestOptions, in context: any PersistentContext,
    _ body: (StorageAccess, AnswerableRequest) throws -> Result
  ) throws -> Result {
    if !options.hasRelatedCondition {
      do {
        return try with(context, for: options.model) { access in
          let request = try options.request(at: access.root.location)
          return try body(access, AnswerableRequest(reader: access.reader, request: request))
        }
      } catch let error as PersistenceError where error.code == .unsupported && options.isRelated {}
    }
    return try with(context, for: options.model, relating: options.related) { access in
      try body(access, access.answerable(options))
    }
  }

  /// The access through a mapping.
  ///
  /// - Throws: The error, if it concerns another model or comes from a mapping.
  func fitted(for model: RecordType, after error: PersistenceError, in context: any PersistentContext) throws
    -> StorageAccess
  {
    let declaration = try model.type.declaration
    guard error.model == declaration.schema.name, error.differences.isEmpty else { throw error }
    root.adopt(declaration)  // another thread may have done so since this access began
    return try StorageAccess(context, for: model)
  }

  private static func requireSupport(
    of model: any PersistentRecord.Type, by context: any PersistentContext
  ) throws {
    let supported = model.supportedContexts
    if supported.isAny { return }
    guard supported.contains(context) else {
      throw PersistenceError.incompatibleContext(model, context: context, accepted: supported.names)
    }
  }

  /// Whether it is a store, not a transaction.
  var isStore: Bool { if case .store = self { true } else { false } }

  /// The reader: a store, which returns its newest state, or a transaction, which returns its own writes.
  var reader: any StorageReader {
    switch self {
    case .store(let store, _): store
    case .transaction(let transaction, _): transaction
    }
  }

  /// The store, also of a transaction.
  var root: any StorageContext {
    switch self {
    case .store(let store, _): store
    case .transaction(_, let inside): inside.root
    }
  }

  /// Performs a single write, in a new transaction or as part of the running one.
  ///
  /// In a new transaction, the closure may run more than once. A single write that throws leaves the transaction unchanged
  /// (contract W4).
  func writeSingle(_ body: (any StorageTransaction) throws -> Void) throws {
    switch self {
    case .store(let store, let declares):
      try TransactionScope.enter(store) {
        try store.keepingTransaction(.replayable, declares: declares, body)
      }
    case .transaction(let transaction, _): try body(transaction)
    }
  }

  /// Performs several writes atomically, in a new transaction, where the closure may run more than once, or in a nested
  /// one.
  func writeAtomically(_ body: (any StorageTransaction) throws -> Void) throws {
    switch self {
    case .store(let store, let declares):
      try TransactionScope.enter(store) {
        try store.keepingTransaction(.replayable, declares: declares, body)
      }
    case .transaction(let transaction, let inside):
      try inside.nested(transaction) { try body(transaction) }
    }
  }
}

extension PersistentRecord {
  /// The type, for code that is not specialized for it.
  static var recordType: RecordType { get throws { try RecordType(self) } }

  /// Checks that a context supports the model, and finds it under its present name.
  static func requireAccess(to context: any PersistentContext) throws {
    _ = try StorageAccess(context, for: RecordType(self))
  }
}

extension StorageContext {
  /// The declarations that use the store through mappings, with that of a model and its schema; nil if no declaration needs
  /// one.
  fileprivate func fits(with model: any PersistentRecord.Type, _ schema: ModelSchema?) throws -> SchemaFits? {
    guard !isKnownComplete, let fits = monitor.schemaFits as? SchemaFits else { return nil }
    if schema.map(fits.knows) != true { fits.declare(try model.declaration) }
    return fits
  }

  /// Adds a declaration with earlier names to the ones that use mappings, unless the store has its present name.
  ///
  /// A driver finds no model of the present name and would answer that there are no records.
  fileprivate func settle(_ declaration: ModelDeclaration, _ reader: any StorageReader) throws {
    if monitor.isSettled(declaration.schema) { return }
    let reader = try (reader as? any StorageContext)?.snapshot() ?? reader
    if case .same = try SchemaFits.fit(declaration, reader, location: location).fit,
      reader is any StorageSnapshot
    {
      monitor.settle(declaration.schema)
    } else {
      adopt(declaration)
    }
  }

  /// Adds a declaration to the ones that use mappings.
  fileprivate func adopt(_ declaration: ModelDeclaration) {
    if monitor.schemaFits == nil { monitor.keepSchemaFits(SchemaFits(location: location)) }
    (monitor.schemaFits as? SchemaFits)?.declare(declaration)
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

  init(_ reader: any StorageReader, of root: (any StorageContext)?) {
    self.reader = reader
    self.root = root
  }

  /// Resolves the access of a model to a context.
  ///
  /// Not an initializer, which would own its arguments: readers contend for the reference count of the context.
  @usableFromInline
  static func resolved(
    _ context: any PersistentContext, for model: any PersistentRecord.Type, _ schema: ModelSchema?,
    hasFormerNames: Bool
  ) throws -> LocatedReader {
    if context is TransactionContext {
      let access = try StorageAccess(context, for: model.recordType)
      return LocatedReader(access.reader, of: access.root)
    }
    return LocatedReader(
      try StorageAccess.store(context, for: model, schema, hasFormerNames: hasFormerNames), of: nil)
  }

  /// An error with the affected record.
  @usableFromInline
  func located(_ error: any Error, _ key: RecordKey, _ schema: ModelSchema) -> any Error {
    let store = root ?? reader as? any StorageContext
    return (error as? PersistenceError)?.at(model: schema.name, key: key, location: store?.location) ?? error
  }
}
