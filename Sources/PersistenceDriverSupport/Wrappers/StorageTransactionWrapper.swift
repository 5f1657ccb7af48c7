import PersistenceDriver

/// A transaction that wraps another one: it changes some calls and forwards the others.
///
/// ``StorageReaderWrapper`` forwards reads. A nested transaction is the same object, so its reads and writes also pass
/// through the wrapper.
public protocol StorageTransactionWrapper: StorageTransaction, StorageReaderWrapper {
  /// The wrapped transaction.
  var wrapped: any StorageTransaction { get }
}

extension StorageTransactionWrapper {
  /// The wrapped transaction.
  public var wrappedReader: any StorageReader { wrapped }

  /// Forwards to the wrapped transaction.
  public func define(_ schema: ModelSchema) throws { try wrapped.define(schema) }

  /// Forwards to the wrapped transaction.
  public func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try wrapped.defineDeferringIndexes(schema)
  }

  /// Forwards to the wrapped transaction.
  public func buildIndexes(of schema: ModelSchema) throws -> Bool { try wrapped.buildIndexes(of: schema) }

  /// Forwards to the wrapped transaction.
  public func drop(_ schema: ModelSchema) throws { try wrapped.drop(schema) }

  /// Forwards to the wrapped transaction.
  public func evolve(_ change: SchemaChange) throws { try wrapped.evolve(change) }

  /// Forwards to the wrapped transaction.
  public func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
  }

  /// Forwards to the wrapped transaction.
  public func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.update(row, in: schema)
  }

  /// Forwards to the wrapped transaction.
  public func save(_ row: borrowing Row, in schema: ModelSchema) throws { try wrapped.save(row, in: schema) }

  /// Forwards to the wrapped transaction.
  public func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try wrapped.delete(key, in: schema)
  }

  /// Forwards to the wrapped transaction.
  public func delete(_ request: FetchRequest) throws -> Int { try wrapped.delete(request) }

  /// Forwards to the wrapped transaction.
  public func update(_ request: UpdateRequest) throws -> Int { try wrapped.update(request) }

  /// Forwards to the wrapped transaction.
  public func deleteAll(in schema: ModelSchema) throws -> Int { try wrapped.deleteAll(in: schema) }

  /// Forwards to the wrapped transaction.
  public func nested(_ body: () throws -> Void) throws { try wrapped.nested(body) }
}
