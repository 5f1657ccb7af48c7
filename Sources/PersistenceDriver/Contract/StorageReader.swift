/// The reading half of a driver: what a context, a snapshot and a transaction have in common.
///
/// A model that the catalog does not hold has no rows; that is not an error. A model that it holds under
/// another schema is one (contract E4): implementations call
/// ``ModelSchema/requireCompatible(with:location:)`` before they read.
public protocol StorageReader: AnyObject {
  /// The schemas of all models in the store, in the order of their names' bytes.
  ///
  /// - Throws: ``PersistenceError`` where the store cannot be read.
  func catalog() throws -> [ModelSchema]

  /// The schema of one model, as ``catalog()`` has it; nil where the store does not hold it.
  ///
  /// An engine reads no other model for it, if it can; `schemaFromCatalog(named:)` reads the whole catalog.
  ///
  /// - Throws: ``PersistenceError`` where the store cannot be read.
  func schema(named name: String) throws -> ModelSchema?

  /// What the store has beside its models, and what its models cannot express; empty for most engines.
  ///
  /// An engine that opens stores made by others says here what a copy by models would leave behind: views, triggers,
  /// foreign keys and the like.
  ///
  /// - Throws: ``PersistenceError`` where the store cannot be read.
  func unmappedObjects() throws -> [UnmappedObject]

  /// Looks a record up by its primary key.
  ///
  /// - Parameters:
  ///   - key: One value for each key field.
  ///   - schema: The model.
  ///   - body: Called once with the row, where there is one; the row is lent, not given.
  /// - Returns: Whether there was one.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool

  /// How many rows a request has, its limit, offset and anchor included, without decoding rows.
  ///
  /// - Throws: ``PersistenceError``.
  func count(_ request: FetchRequest) throws -> Int

  /// The rows of a request, as the reader sees the store at this moment.
  ///
  /// In a context and a snapshot the rows stay as they are for as long as the result lives (contract R2); in a
  /// transaction the result is valid until the next write or the end of the transaction, so callers read it at
  /// once (R1a).
  ///
  /// - Throws: ``PersistenceError``.
  func fetch(_ request: FetchRequest) throws -> any StorageResults

  /// Some fields of the rows of a request, as ``fetch(_:)`` gives all of them.
  ///
  /// An engine leaves the other fields unread, if it can; `fetchWholeRows(_:selecting:)` fetches whole rows and cuts them.
  ///
  /// - Parameters:
  ///   - request: Which rows.
  ///   - positions: The positions, in the request's schema, of the fields that the rows have, in this order; one may
  ///     stand twice.
  /// - Returns: The rows, cut.
  /// - Throws: ``PersistenceError``.
  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults

  /// Computes values over the rows of a request, for all of them or group by group.
  ///
  /// An engine computes exactly what `AggregateFold` does; `aggregateByScanning(_:)` reads every row and keeps none.
  ///
  /// - Returns: The groups, in ascending order of their keys; without grouping the one group of all rows, also where
  ///   there are none.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/valueTooLarge`` where a sum is beyond what its
  ///   kind can hold.
  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup]

  /// How a request would be answered.
  ///
  /// - Throws: ``PersistenceError``.
  func plan(for request: FetchRequest) throws -> QueryPlan

  /// How a request for some fields would be answered; `planForWholeRows(_:selecting:)` plans it as one for whole rows.
  ///
  /// - Parameters:
  ///   - request: Which rows.
  ///   - positions: The positions of the fields that are wanted.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan
}
