public import PersistenceDriver
import Synchronization

/// The lifetime of a transaction, which its results share (contract R1a).
///
/// A transaction owns one, checks it in every call, and ends it when its closure returns. From then on, its calls and its
/// results throw ``PersistenceError/Code/closed``.
///
/// ```swift
/// func fetch(_ request: FetchRequest) throws -> any StorageResults {
///   try lifetime.requireOpen()
///   return lifetime.limit(try makeResults(request))
/// }
/// ```
public final class TransactionLifetime: Sendable {
  private let isOpen = Atomic(true)

  /// Begins a lifetime.
  public init() {}

  /// Ends the lifetime; a second call has no effect.
  public func end() { isOpen.store(false, ordering: .relaxed) }

  /// Throws if the transaction has ended.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/closed``.
  public func requireOpen() throws {
    guard isOpen.load(ordering: .relaxed) else { throw PersistenceError.closed("the transaction") }
  }

  /// Returns results that can be read until the transaction ends.
  ///
  /// An engine whose results read through the transaction needs no such limit: its reads throw by themselves.
  ///
  /// - Parameter results: The results of the transaction.
  /// - Returns: The same rows, until the end.
  public func limit(_ results: any StorageResults) -> any StorageResults { LimitedResults(results, self) }
}

/// Results of a transaction that end with it.
private final class LimitedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let lifetime: TransactionLifetime

  init(_ wrapped: any StorageResults, _ lifetime: TransactionLifetime) {
    self.wrapped = wrapped
    self.lifetime = lifetime
  }

  func count() throws -> Int {
    try lifetime.requireOpen()
    return try wrapped.count()
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try lifetime.requireOpen()
    return try wrapped.read(from: offset, limit: limit, body)
  }

  func checkUnread() throws {
    try lifetime.requireOpen()
    try (wrapped as? any CheckedResults)?.checkUnread()
  }
}
