public import PersistenceDriver

/// An asynchronous sequence of what a data source tells over time.
///
/// Nothing happens before the first element is asked for, and nothing between two of them. It ends with nil when the task
/// is cancelled.
public struct DataSourceStream<Element: Sendable>: AsyncSequence, Sendable {
  /// Returns the next element; nil at the end.
  public typealias Next = @Sendable () async throws(PersistenceError) -> Element?

  /// The error of an iteration.
  public typealias Failure = PersistenceError

  private let begin: @Sendable () -> Next

  /// Creates a sequence.
  ///
  /// - Parameter begin: Makes a closure for each iterator. One task at a time calls that closure, once for each element.
  public init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Iterates over the elements.
  ///
  /// Releasing it ends the observation.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let element: Next

    init(_ element: @escaping Next) { self.element = element }

    /// The next element; nil at the end.
    ///
    /// - Throws: ``PersistenceError``.
    public mutating func next() async throws(PersistenceError) -> Element? { try await element() }

    /// The next element, in the isolation of an actor; nil at the end.
    ///
    /// - Throws: ``PersistenceError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> Element?
    {
      try await element()
    }
  }

  /// Starts an iteration.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }

  /// The elements, as loading states.
  public var states: LoadingStates<Element> { LoadingStates { SequenceIterator(self).next } }
}
