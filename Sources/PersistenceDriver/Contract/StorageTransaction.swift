/// A running transaction.
///
/// Reads see its own writes, and it commits all of its writes or none (contract W3).
///
/// It belongs to the thread that runs its closure, and is closed when that closure returns. A single write that
/// throws leaves the transaction unchanged (W4).
public protocol StorageTransaction: StorageReader {
  /// Adds a model to the catalog, with the tables and indexes it needs; has no effect if the model exists.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if the store contains the model
  ///   with another schema.
  func define(_ schema: ModelSchema) throws

  /// Adds a model to the catalog as ``define(_:)`` does, but leaves its secondary indexes to ``buildIndexes(of:)``,
  /// after the records are written.
  ///
  /// Until then, unique indexes are not enforced, and requests are answered without indexes. An engine that gains
  /// nothing from deferring calls ``define(_:)`` and returns true from ``buildIndexes(of:)``.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if the store contains the model
  ///   with another schema.
  func defineDeferringIndexes(_ schema: ModelSchema) throws

  /// Builds indexes that ``defineDeferringIndexes(_:)`` or ``evolve(_:)`` left out, as many as suit one transaction; has
  /// no effect if all are built.
  ///
  /// Callers call it repeatedly, each time in a new transaction, until it returns true. Until then, requests are
  /// answered without the indexes. Records may be written between the calls: the engine adds them to the indexes. The
  /// committed part of a build is kept, so another process can continue it after a kill. While it reads records, the
  /// engine calls ``StoreProgress/report(_:)``.
  ///
  /// - Returns: Whether all indexes are built.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` and one of the records, if two
  ///   records have the same values in a unique index. Nothing is built then.
  func buildIndexes(of schema: ModelSchema) throws -> Bool

  /// Removes a model: its records, its indexes and its catalog entry; has no effect if the model does not exist.
  ///
  /// Afterwards the model can be defined again, even with another schema, in the same transaction or later. An engine
  /// that cannot remove models calls `refuseDrop(of:)`, which throws ``PersistenceError/Code/unsupported``.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if the store contains the model
  ///   with another schema.
  func drop(_ schema: ModelSchema) throws

  /// Changes the stored schema of a model, and its records as far as the engine needs.
  ///
  /// Afterwards the catalog contains ``SchemaChange/target``, and each record has the values that the change's sources
  /// give. A transaction that rolls back leaves schema and records as they were. The fallback `evolveByCopying(_:)`
  /// rewrites all records.
  ///
  /// While it reads or writes records, the engine calls ``StoreProgress/report(_:)``, first before the first record. Its
  /// memory does not grow with the number of records, apart from the engine's own transaction.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` if the catalog does not contain
  ///   ``SchemaChange/stored``, or contains another model with the target's name,
  ///   ``PersistenceError/Code/uniqueViolation`` if records collide in a new unique index, and
  ///   the error of ``SchemaChange/compute`` or of ``StoreProgress/report(_:)``. If it throws, nothing changes.
  func evolve(_ change: SchemaChange) throws

  /// Adds a record of a defined model.
  ///
  /// Implementations call ``ModelSchema/validate(_:)`` before they insert, update or save.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/duplicateKey`` if the key exists,
  ///   ``PersistenceError/Code/uniqueViolation``, and ``PersistenceError/Code/invalidRequest`` if the row does not
  ///   match the schema.
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Replaces the record with the same key of a defined model.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if there is no such record,
  ///   ``PersistenceError/Code/uniqueViolation``, and ``PersistenceError/Code/invalidRequest`` if the row does not
  ///   match the schema.
  func update(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Upserts a record of a defined model: adds it, or replaces the record with the same key.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation``, and
  ///   ``PersistenceError/Code/invalidRequest`` if the row does not match the schema.
  func save(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Deletes the record with a key.
  ///
  /// - Returns: Whether the record existed.
  /// - Throws: ``PersistenceError``.
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool

  /// Deletes the rows of a request, after its order, limit, offset and anchor.
  ///
  /// - Returns: The number of deleted records.
  /// - Throws: ``PersistenceError``.
  func delete(_ request: FetchRequest) throws -> Int

  /// Sets fields of all rows of a request, after its order, limit, offset and anchor. If it throws, no row changes.
  ///
  /// An engine updates the records in place if it can. The fallback `updateEach(_:)` reads the keys and updates each
  /// record.
  ///
  /// - Returns: The number of updated records.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` if two records would have the
  ///   same unique value.
  func update(_ request: UpdateRequest) throws -> Int

  /// Deletes all records of one model.
  ///
  /// - Returns: The number of deleted records.
  /// - Throws: ``PersistenceError``.
  func deleteAll(in schema: ModelSchema) throws -> Int

  /// Runs a closure as a nested transaction, which rolls back if the closure throws; the error is rethrown.
  ///
  /// - Throws: The closure's error, and ``PersistenceError``.
  func nested(_ body: () throws -> Void) throws
}
