import PersistenceDriverSupport

extension PersistentResults {
  /// The models as an asynchronous sequence, which throws if reading fails.
  ///
  /// Dedicated threads read the pages, never the cooperative pool. Cancelling the task ends the sequence
  /// between two pages with a `CancellationError`.
  public var stream: ResultStream<Element> { ResultStream(storage: storage, window: window) }
}

/// The models of a result as an asynchronous sequence.
public struct ResultStream<Element: Sendable>: AsyncSequence, Sendable {
  let storage: ResultStorage<Element>
  let window: Range<Int>

  /// Iterates over the result, page by page.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var pageCursor: PageCursor<Element>
    private var hasBegun = false

    init(_ storage: ResultStorage<Element>, _ window: Range<Int>) {
      pageCursor = PageCursor(window, of: storage)
    }

    /// The next model; nil at the end.
    ///
    /// - Throws: ``PersistenceError`` with the record that could not be read, and `CancellationError`.
    public mutating func next() async throws -> Element? {
      let needsPage = pageCursor.needsPage
      if needsPage || !hasBegun { try Task.checkCancellation() }
      hasBegun = true
      if needsPage {
        let (page, storage) = (pageCursor.page(), pageCursor.storage)
        try await BlockingThreads.reading.run { try storage.fill(page) }
      }
      return pageCursor.take()
    }
  }

  /// Creates an iterator with its own pages.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(storage, window) }
}

extension BlockingThreads {
  /// The threads of streams and observations, which must not wait behind the writes of data sources.
  static let reading = BlockingThreads("persistence reading", limit: 64)
}
