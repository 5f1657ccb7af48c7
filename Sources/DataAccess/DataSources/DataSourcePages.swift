/// The objects of a query as an asynchronous sequence of pages.
public struct DataSourcePages<Object: Sendable, Failure: Error>: AsyncSequence, Sendable {
  /// Returns the next page; nil at the end.
  public typealias Next = @Sendable () async throws(Failure) -> [Object]?

  private let begin: @Sendable () -> Next

  /// Creates a sequence.
  ///
  /// - Parameter begin: Makes a closure for each iterator. One task at a time calls that closure, once for each
  ///   page.
  public init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Iterates over the pages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let page: Next

    init(_ page: @escaping Next) { self.page = page }

    /// The next page; nil at the end.
    public mutating func next() async throws(Failure) -> [Object]? { try await page() }

    /// The next page, in the isolation of an actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> [Object]? {
      try await page()
    }
  }

  /// Starts at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }
}

/// One iteration over a sequence, for one task at a time.
package final class SequenceIterator<Base: AsyncSequence>: @unchecked Sendable {  // used by one task
  private var iterator: Base.AsyncIterator

  package init(_ base: Base) { iterator = base.makeAsyncIterator() }

  /// The next element; nil at the end.
  @Sendable
  package func next() async throws(Base.Failure) -> Base.Element? {
    try await iterator.next(isolation: #isolation)
  }
}
