/// The reading half of a driver, shared by contexts, snapshots and transactions.
///
/// A model that is missing from the catalog has no rows; that is not an error. A model with another schema in the
/// catalog is an error (contract E4): implementations call ``ModelSchema/requireCompatible(with:location:)`` before
/// they read.
public protocol StorageReader: AnyObject {
  /// The schemas of all models in the store, ordered by the bytes of their names.
  ///
  /// - Throws: ``PersistenceError`` if the store cannot be read.
  func catalog() throws -> [ModelSchema]

  /// The schema of one model, equal to its entry in ``catalog()``; nil if the store does not contain the model.
  ///
  /// An engine avoids reading other models if it can. The fallback `schemaFromCatalog(named:)` reads all of them.
  ///
  /// - Throws: ``PersistenceError`` if the store cannot be read.
  func schema(named name: String) throws -> ModelSchema?

  /// The objects of the store that models cannot express; empty for most engines.
  ///
  /// An engine that opens existing databases lists what a copy by models would lose: views, triggers, foreign keys
  /// and the like.
  ///
  /// - Throws: ``PersistenceError`` if the store cannot be read.
  func unmappedObjects() throws -> [UnmappedObject]

  /// Looks a record up by its primary key.
  ///
  /// - Parameters:
  ///   - key: One value for each key field.
  ///   - schema: The model.
  ///   - body: Called once with the borrowed row, if the record exists.
  /// - Returns: Whether the record exists.
  /// - Throws: ``PersistenceError``, and the closure's error.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool

  /// Counts the rows of a request, after its limit, offset and anchor, without decoding rows.
  ///
  /// - Throws: ``PersistenceError``.
  func count(_ request: FetchRequest) throws -> Int

  /// The rows of a request, as the reader sees the store now.
  ///
  /// The rows of a context or snapshot do not change while the result lives (contract R2). The result of a
  /// transaction is valid until its next write or its end, so callers read it immediately (R1a).
  ///
  /// - Throws: ``PersistenceError``.
  func fetch(_ request: FetchRequest) throws -> any StorageResults

  /// Fetches the selected fields of the rows of a request, under the same rules as ``fetch(_:)``.
  ///
  /// An engine skips the other fields if it can. The fallback `fetchWholeRows(_:selecting:)` reduces whole rows.
  ///
  /// - Parameters:
  ///   - request: The rows to fetch.
  ///   - positions: The positions of the selected fields in the request's schema, in the order of the result. A
  ///     position may occur twice.
  /// - Returns: The rows, with the selected fields only.
  /// - Throws: ``PersistenceError``.
  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults

  /// Aggregates the rows of a request, as a whole or by group.
  ///
  /// An engine computes exactly the results of the fallback `aggregateByScanning(_:)`, which reads every row.
  ///
  /// - Returns: The groups, in ascending order of their keys. Without grouping, one group of all rows, even if there
  ///   are no rows.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/valueTooLarge`` if a sum exceeds the range of
  ///   its kind.
  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup]

  /// The plan for a request.
  ///
  /// - Throws: ``PersistenceError``.
  func plan(for request: FetchRequest) throws -> QueryPlan

  /// The plan for a selection of fields. The fallback `planForWholeRows(_:selecting:)` plans a fetch of whole rows.
  ///
  /// - Parameters:
  ///   - request: The rows to fetch.
  ///   - positions: The positions of the selected fields.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan

  /// The cost of a change of schema, which ``StorageTransaction/evolve(_:)`` makes. The fallback `costOfCopying(_:)`
  /// says ``EvolutionCost/rewrite``.
  ///
  /// - Throws: ``PersistenceError``.
  func cost(of change: SchemaChange) throws -> EvolutionCost

  /// The indexes of a model that are declared in the catalog and wait for ``StorageTransaction/buildIndexes(of:)``.
  ///
  /// No request is answered with such an index (contract S9). An engine without unbuilt indexes returns an empty list.
  ///
  /// - Parameter schema: The model.
  /// - Returns: The stored indexes, in the order of the catalog; empty if the store does not contain the model.
  /// - Throws: ``PersistenceError``.
  func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema]
}

/// The state of a whole store at one moment, pinned until it is released (contract R2).
///
/// Several threads may use it concurrently.
public protocol StorageSnapshot: StorageReader, Sendable {}

/// The ordered rows of a request, read in pages from a pinned snapshot.
///
/// Several threads may use it concurrently. Releasing it releases the snapshot.
public protocol StorageResults: AnyObject, Sendable {
  /// Counts the rows without decoding them.
  ///
  /// - Throws: ``PersistenceError``.
  /// - Complexity: At most one scan of keys for the first call, then constant.
  func count() throws -> Int

  /// Reads consecutive rows.
  ///
  /// - Parameters:
  ///   - offset: The number of rows to skip.
  ///   - limit: The maximum number of rows to read.
  ///   - body: Called with each borrowed row, in order.
  /// - Returns: The number of rows read. If it is less than `limit`, the result ends there.
  /// - Throws: ``PersistenceError`` with the record that could not be read, and the closure's error.
  /// - Complexity: Linear in `limit`, if `offset` is 0 or the end of an earlier read. A jump further ahead may scan
  ///   the keys up to it, once.
  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int

  /// Whether each row takes a random access, as through an index. Callers then begin with a short page.
  var usesRandomAccess: Bool { get }
}

/// Results over files that people edit, which can be checked before a program iterates over them (contract R4).
///
/// A repository checks such results when it fetches more than a page, so that a plain `for` meets no damage.
public protocol CheckedResults: StorageResults {
  /// Reads and checks the rows that no read has reached, as far as they have changed since they were last checked.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` and the damaged record.
  /// - Complexity: Linear in the number of rows, but only changed ones are read.
  func checkUnread() throws
}
