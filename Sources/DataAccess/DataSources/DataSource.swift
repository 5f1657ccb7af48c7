public import PersistenceCore

/// Where objects of one kind are kept, wherever that is: in memory, in an engine's file, behind a server, or in layers
/// of these.
///
/// Calls suspend and never block the thread of a task; cancelling the task ends them, at the latest after the page that
/// is under way. Every writing method gives back the object as it is stored now, which may differ from what was handed
/// in: a server may have filled in fields.
///
/// ```swift
/// let store = repository.dataSource(of: Movie.self)
/// let movies = try await store.filter(where: \.rating == .pg13 && \.budget >= 10_000_000)
///   .sorted(by: \.title).sorted(by: \.budget, inOrder: .descending)
///   .result()
/// ```
public protocol DataSource<Object>: Sendable {
  /// What is kept.
  associatedtype Object: PersistentRecord

  /// What the methods throw; stores of this package throw ``PersistenceError``, and code
  /// ``PersistenceError/Code/cancelled`` where the task was cancelled.
  associatedtype Failure: Error

  /// Whether answers come in the order of the contract: text by its bytes, ties by the key. By default they do.
  ///
  /// A store in front of somebody else's server may not know. Its first ten are then not taken for those that would be
  /// the first ten elsewhere: layers keep them, but draw no conclusion about what is absent.
  var hasContractOrder: Bool { get }

  /// Adds an object.
  ///
  /// - Returns: The object as it is stored.
  /// - Throws: An error that means ``PersistenceError/Code/duplicateKey`` where the key exists.
  @discardableResult
  func insert(_ object: Object) async throws(Failure) -> Object

  /// Replaces the object of the same key.
  ///
  /// - Returns: The object as it is stored.
  /// - Throws: An error that means ``PersistenceError/Code/notFound`` where there is none.
  @discardableResult
  func update(_ object: Object) async throws(Failure) -> Object

  /// Replaces the object of the same key, if what is stored is still what was expected.
  ///
  /// - Parameters:
  ///   - object: The new state.
  ///   - expected: The state that the change began with, of the same key.
  /// - Returns: The object as it is stored.
  /// - Throws: An error that means ``PersistenceError/Code/conflict`` where something else is stored, and
  ///   ``PersistenceError/Code/notFound`` where nothing is.
  @discardableResult
  func update(_ object: Object, replacing expected: Object) async throws(Failure) -> Object

  /// Adds an object, or replaces the one of the same key.
  ///
  /// - Returns: The object as it is stored.
  @discardableResult
  func save(_ object: Object) async throws(Failure) -> Object

  /// Deletes the object of the same key.
  ///
  /// - Returns: The object as it was stored; nil where there was none.
  @discardableResult
  func delete(_ object: Object) async throws(Failure) -> Object?

  /// Makes several changes, all of them or none.
  ///
  /// - Parameter batch: The changes, in their order. A batch that was already applied, by its ``ChangeBatch/id``, is
  ///   not applied again: sending it twice does what sending it once does.
  /// - Returns: Whether the changes were made now; false where that was done before, so that what is stored of their
  ///   keys may be newer than what they state.
  /// - Throws: What the change that cannot be made would throw alone.
  @discardableResult
  func apply(_ batch: ChangeBatch<Object>) async throws(Failure) -> Bool

  /// The object of a key.
  ///
  /// - Returns: The object; nil where there is none.
  func find(_ key: Object.PrimaryKey) async throws(Failure) -> Object?

  /// The objects of a query, whole.
  ///
  /// - Parameter query: Which objects, in what order; see ``DataSourceQuery`` for a way to write it.
  /// - Returns: The objects.
  /// - Throws: ``Failure``.
  func execute(_ query: FetchOptions<Object>) async throws(Failure) -> [Object]

  /// How many objects a query has, its limit and offset included.
  func count(_ query: FetchOptions<Object>) async throws(Failure) -> Int

  /// The objects of a query, a page at a time.
  ///
  /// - Parameters:
  ///   - query: Which objects, in what order.
  ///   - size: How many objects a page has at most.
  /// - Returns: A sequence of pages, none of them empty. Nothing is read until it is asked for one.
  func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, Failure>
}

extension DataSource {
  /// Answers come in the order of the contract.
  public var hasContractOrder: Bool { true }

  /// Pages by key: each is the query's beginning after the last object of the page before.
  ///
  /// What is written between two pages may show in the second.
  public func pages(_ query: FetchOptions<Object>, size: Int = 100) -> DataSourcePages<Object, Failure> {
    DataSourcePages { KeysetPager(store: self, query: query, size: max(1, size)).next }
  }
}
