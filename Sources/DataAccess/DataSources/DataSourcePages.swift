/// The objects of a query as an asynchronous sequence of pages.
public struct DataSourcePages<Object: Sendable, Failure: Error>: AsyncSequence, Sendable {
  /// Gives the next page; nil at the end.
  public typealias Next = @Sendable () async throws(Failure) -> [Object]?

  private let begin: @Sendable () -> Next

  /// Makes a sequence.
  ///
  /// - Parameter begin: Called for each walk; what it returns is called for each page, by one task at a time.
  public init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Walks the pages.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let page: Next

    init(_ page: @escaping Next) { self.page = page }

    /// The next page; nil at the end.
    public mutating func next() async throws(Failure) -> [Object]? { try await page() }

    /// The next page, read on behalf of an actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> [Object]? {
      try await page()
    }
  }

  /// Begins at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }
}
