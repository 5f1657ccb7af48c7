/// A transaction under way: reads see its own writes, and everything is done or nothing (contract W3).
///
/// It belongs to the thread that runs the closure it was given to, and is of no use after that closure returns.
/// A single call that throws leaves the transaction as if it had not been made (W4).
public protocol StorageTransaction: StorageReader {
  /// Enters a model into the catalog, with whatever tables and indexes it needs; does nothing where it is there.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` where the store holds
  ///   it under another schema.
  func define(_ schema: ModelSchema) throws

  /// Enters a model into the catalog as ``define(_:)`` does, and leaves its secondary indexes to be built when the
  /// records are there, by ``buildIndexes(of:)``.
  ///
  /// Until then no unique index refuses anything, and requests are answered without indexes. An engine that gains
  /// nothing by it calls ``define(_:)``, and returns true from ``buildIndexes(of:)``.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` where the store holds
  ///   it under another schema.
  func defineDeferringIndexes(_ schema: ModelSchema) throws

  /// Builds the indexes of a model that ``defineDeferringIndexes(_:)`` left out, as far as is good in one transaction;
  /// does nothing where there are none.
  ///
  /// It is called again, each time in a transaction of its own, until it says that all are built. Until then requests
  /// are answered without indexes, whatever has been built of them. Records may be written in between: the engine sees
  /// to it that the indexes hold them in the end.
  ///
  /// - Returns: Whether all are built now.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation``, naming one of the records,
  ///   where two have the same values in a unique index: nothing is built then.
  func buildIndexes(of schema: ModelSchema) throws -> Bool

  /// Removes a model: its records, its indexes and its entry in the catalog; does nothing where it is not there.
  ///
  /// Afterwards it can be defined anew, also under another schema, in the same transaction or later. An engine that
  /// cannot remove models throws ``PersistenceError/Code/unsupported``, as `refuseDrop(of:)` does.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` where the store holds
  ///   it under another schema.
  func drop(_ schema: ModelSchema) throws

  /// Adds a record; the model has been defined.
  ///
  /// Implementations call ``ModelSchema/validate(_:)`` before they insert, update or save.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/duplicateKey`` where the key exists,
  ///   ``PersistenceError/Code/uniqueViolation``, and ``PersistenceError/Code/invalidRequest`` where the row does not
  ///   fit its schema.
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Replaces the record of the same key; the model has been defined.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where there is none,
  ///   ``PersistenceError/Code/uniqueViolation``, and ``PersistenceError/Code/invalidRequest`` where the row does not
  ///   fit its schema.
  func update(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Adds the record, or replaces the one of the same key; the model has been defined.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation``, and
  ///   ``PersistenceError/Code/invalidRequest`` where the row does not fit its schema.
  func save(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Deletes the record of a key.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: ``PersistenceError``.
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool

  /// Deletes the rows of a request, its order, limit, offset and anchor included.
  ///
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  func delete(_ request: FetchRequest) throws -> Int

  /// Sets fields of the rows of a request, its order, limit, offset and anchor included; all of them or, where it
  /// throws, none.
  ///
  /// An engine updates them in place, if it can; `updateEach(_:)` reads their keys and updates each by itself.
  ///
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` where a unique value would stand
  ///   in two records.
  func update(_ request: UpdateRequest) throws -> Int

  /// Deletes all records of a model, and of no other.
  ///
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  func deleteAll(in schema: ModelSchema) throws -> Int

  /// Runs a closure whose writes are undone where it throws, and which then throws on.
  ///
  /// - Throws: What the closure throws, and ``PersistenceError``.
  func nested(_ body: () throws -> Void) throws
}
