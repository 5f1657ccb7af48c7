import PersistenceDriver

/// A transaction around another one, which changes some of what it does and hands everything else on.
///
/// Reads have their defaults in ``StorageReaderWrapper``. A nested transaction is the same object, so that its reads
/// and writes pass through the wrapper too.
public protocol StorageTransactionWrapper: StorageTransaction, StorageReaderWrapper {
  /// The transaction that calls are handed on to.
  var wrapped: any StorageTransaction { get }
}

extension StorageTransactionWrapper {
  /// The wrapped transaction.
  public var wrappedReader: any StorageReader { wrapped }

  /// Asks the wrapped transaction.
  public func define(_ schema: ModelSchema) throws { try wrapped.define(schema) }

  /// Asks the wrapped transaction.
  public func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try wrapped.defineDeferringIndexes(schema)
  }

  /// Asks the wrapped transaction.
  public func buildIndexes(of schema: ModelSchema) throws -> Bool { try wrapped.buildIndexes(of: schema) }

  /// Asks the wrapped transaction.
  public func drop(_ schema: ModelSchema) throws { try wrapped.drop(schema) }

  /// Asks the wrapped transaction.
  public func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
  }

  /// Asks the wrapped transaction.
  public func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.update(row, in: schema)
  }

  /// Asks the wrapped transaction.
  public func save(_ row: borrowing Row, in schema: ModelSchema) throws { try wrapped.save(row, in: schema) }

  /// Asks the wrapped transaction.
  public func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try wrapped.delete(key, in: schema)
  }

  /// Asks the wrapped transaction.
  public func delete(_ request: FetchRequest) throws -> Int { try wrapped.delete(request) }

  /// Asks the wrapped transaction.
  public func update(_ request: UpdateRequest) throws -> Int { try wrapped.update(request) }

  /// Asks the wrapped transaction.
  public func deleteAll(in schema: ModelSchema) throws -> Int { try wrapped.deleteAll(in: schema) }

  /// Asks the wrapped transaction.
  public func nested(_ body: () throws -> Void) throws { try wrapped.nested(body) }
}
