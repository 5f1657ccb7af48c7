public import PersistenceCore

/// An asynchronous collection of the objects of one kind: in memory, in a store, behind a server, or in layers
/// of these.
///
/// Calls suspend instead of blocking a thread. Cancelling the task stops a call at the latest after the page in
/// flight. Each write returns the stored object, which can differ from the argument: a server may fill in
/// fields.
///
/// ```swift
/// let movies = repository.dataSource(of: Movie.self)
/// let found = try await movies.filter(where: \.rating == .pg13 && \.budget >= 10_000_000)
///   .sorted(by: \.title).sorted(by: \.budget, inOrder: .descending)
///   .result()
/// ```
public protocol DataSource<Object>: Sendable {
  /// The type of the objects.
  associatedtype Object: PersistentRecord

  /// The error that the methods throw.
  ///
  /// The data sources of this package throw ``PersistenceError``, with code ``PersistenceError/Code/cancelled``
  /// if the task is cancelled.
  associatedtype Failure: Error

  /// Whether the data source returns objects in contract order: text by its bytes, ties by the key. The default
  /// is true.
  ///
  /// A data source of a third-party server may not guarantee this order. Layers cache a limited answer of such
  /// a source, but do not conclude from it which objects are absent.
  var hasContractOrder: Bool { get }

  /// The limits of a batch that joins several writes; nil if each write needs a batch of its own. The default is nil.
  ///
  /// The outbox of a ``LayeredDataSource`` sends waiting writes together if its remote layer has limits. Such a data
  /// source also accepts a batch without changes, and throws ``PersistenceError/Code/batchReused`` for a batch with the
  /// id of an applied one and other changes. An empty batch then makes sure that a batch with unknown outcome is never
  /// applied later, or shows that it was. A batch of one write may exceed the limits.
  var batchLimits: BatchLimits? { get }

  /// Inserts an object.
  ///
  /// - Returns: The stored object.
  /// - Throws: An error with the meaning of ``PersistenceError/Code/duplicateKey`` if the key exists.
  @discardableResult
  func insert(_ object: Object) async throws(Failure) -> Object

  /// Replaces the object of the same key.
  ///
  /// - Returns: The stored object.
  /// - Throws: An error with the meaning of ``PersistenceError/Code/notFound`` if the object does not exist.
  @discardableResult
  func update(_ object: Object) async throws(Failure) -> Object

  /// Replaces the object of the same key if the stored object equals the expected one.
  ///
  /// - Parameters:
  ///   - object: The new state.
  ///   - expected: The state that the change is based on, with the same key.
  /// - Returns: The stored object.
  /// - Throws: An error with the meaning of ``PersistenceError/Code/conflict`` if the stored object differs, or
  ///   of ``PersistenceError/Code/notFound`` if it does not exist.
  @discardableResult
  func update(_ object: Object, replacing expected: Object) async throws(Failure) -> Object

  /// Inserts an object, or replaces the one of the same key.
  ///
  /// - Returns: The stored object.
  @discardableResult
  func save(_ object: Object) async throws(Failure) -> Object

  /// Deletes the object of the same key.
  ///
  /// - Returns: The deleted object; nil if it did not exist.
  @discardableResult
  func delete(_ object: Object) async throws(Failure) -> Object?

  /// Applies all changes of a batch or none.
  ///
  /// - Parameter batch: The changes, in order. The data source ignores a batch whose ``ChangeBatch/id`` it has
  ///   already applied.
  /// - Returns: True if this call applied the changes; false if an earlier call did. The stored objects can
  ///   then be newer than the batch.
  /// - Throws: The error of the first change that fails.
  @discardableResult
  func apply(_ batch: ChangeBatch<Object>) async throws(Failure) -> Bool

  /// The object of a key.
  ///
  /// - Returns: The object; nil if it does not exist.
  func find(_ key: Object.PrimaryKey) async throws(Failure) -> Object?

  /// All objects that match a query.
  ///
  /// - Parameter query: The predicate, order and limits; see ``DataSourceQuery`` for a fluent interface.
  /// - Returns: The objects.
  /// - Throws: ``Failure``.
  func execute(_ query: FetchOptions<Object>) async throws(Failure) -> [Object]

  /// The number of objects that match a query, after its limit and offset.
  func count(_ query: FetchOptions<Object>) async throws(Failure) -> Int

  /// The objects that match a query, in pages.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits.
  ///   - size: The maximum number of objects of a page.
  /// - Returns: A sequence of pages, none of them empty. It reads a page when the iterator asks for it.
  func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, Failure>
}

extension DataSource {
  /// True: the order is that of the contract.
  public var hasContractOrder: Bool { true }

  /// Nil: each write needs a batch of its own.
  public var batchLimits: BatchLimits? { nil }

  /// Keyset pagination: each page starts after the last object of the page before.
  ///
  /// A later page can show writes made after an earlier one.
  public func pages(_ query: FetchOptions<Object>, size: Int = 100) -> DataSourcePages<Object, Failure> {
    DataSourcePages { KeysetPager(source: self, query: query, size: max(1, size)).next }
  }
}
