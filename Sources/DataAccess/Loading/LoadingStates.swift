public import PersistenceDriver

/// The states of something that is loaded, as an asynchronous sequence: first that it is on its way, then each value, or
/// the failure at which it ends.
///
/// It is asked for nothing before it is walked, and never runs ahead of who walks it. It ends after a failure, where
/// there are no more values, and where the task is cancelled.
public struct LoadingStates<Value: Sendable>: AsyncSequence, Sendable {
  /// Gives the next value; nil at the end.
  public typealias Next = @Sendable () async throws(PersistenceError) -> Value?

  /// A state.
  public typealias Element = LoadingState<Value>

  /// It does not fail: failures are states.
  public typealias Failure = Never

  private let begin: @Sendable () -> Next

  /// Makes a sequence.
  ///
  /// - Parameter begin: Called for each walk; what it returns is called for each value, by one task at a time.
  public init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Makes a sequence of one value.
  ///
  /// - Parameter load: Loads it.
  public init(of load: @escaping @Sendable () async throws(PersistenceError) -> Value) {
    self.init {
      let isDone = Flag()
      return { () async throws(PersistenceError) -> Value? in
        if isDone.set() { return nil }
        return try await load()
      }
    }
  }

  /// Walks the states.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum Stage {
      case new
      case loading(Next)
      case over
    }

    private let begin: @Sendable () -> Next
    private var stage = Stage.new
    private var last: Value?

    init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

    /// The next state; nil at the end.
    public mutating func next() async -> LoadingState<Value>? {
      await next(isolation: #isolation)
    }

    /// The next state, awaited on behalf of an actor; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> LoadingState<Value>? {
      switch stage {
      case .new:
        stage = .loading(begin())
        return .loading(last: nil)
      case .over: return nil
      case .loading(let next):
        do {
          if let value = try await next() {
            last = value
            return .success(value)
          }
        } catch {
          stage = .over
          // Who has gone away need not be told why nothing came.
          return error.code == .cancelled && Task.isCancelled ? nil : .failure(error, last: last)
        }
        stage = .over
        return nil
      }
    }
  }

  /// Begins to load.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin) }
}
