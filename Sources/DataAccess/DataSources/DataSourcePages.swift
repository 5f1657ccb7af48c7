import PersistenceCore
import Synchronization

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

/// Reads a query with keyset pagination: each page starts after the last object of the page before.
final class KeysetPager<Source: DataSource>: Sendable {
  private struct Progress {
    var query: FetchOptions<Source.Object>
    var isAtEnd = false
  }

  private let source: Source
  private let size: Int
  private let progress: Mutex<Progress>

  init(source: Source, query: FetchOptions<Source.Object>, size: Int) {
    self.source = source
    self.size = size
    progress = Mutex(Progress(query: query))
  }

  @Sendable
  func next() async throws(Source.Failure) -> [Source.Object]? {
    let (query, isAtEnd) = progress.withLock { ($0.query, $0.isAtEnd) }
    if isAtEnd { return nil }
    let wanted = min(size, query.limit ?? size)
    var page = query
    page.limit = wanted
    let objects = wanted == 0 ? [] : try await source.execute(page)
    progress.withLock { progress in
      progress.query.offset = 0
      progress.query.limit = query.limit.map { $0 - objects.count }
      progress.query.token = nil
      progress.query.after = objects.last
      progress.isAtEnd = objects.count < wanted || progress.query.limit == 0
    }
    return objects.isEmpty ? nil : objects
  }
}
