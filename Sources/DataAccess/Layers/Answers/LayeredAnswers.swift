public import PersistenceCore
import PersistenceDriver

/// A sequence of answers, each better than the one before.
///
/// Iteration starts the query.
public struct LayeredAnswers<Value: Sendable>: AsyncSequence, Sendable {
  /// Returns the next answer; nil at the end.
  typealias Next = @Sendable () async throws(PersistenceError) -> LayeredAnswer<Value>?

  private let begin: @Sendable () -> Next

  init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Iterates over the answers.
  ///
  /// Releasing it cancels the layers that have not answered.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let answer: Next

    init(_ answer: @escaping Next) { self.answer = answer }

    /// The next answer; nil at the end.
    ///
    /// - Throws: ``PersistenceError`` after the last answer if the authoritative layer failed.
    public mutating func next() async throws(PersistenceError) -> LayeredAnswer<Value>? { try await answer() }

    /// The next answer, in the isolation of an actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> LayeredAnswer<Value>?
    {
      try await answer()
    }
  }

  /// Queries the layers when the iterator asks for the first answer.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }
}
