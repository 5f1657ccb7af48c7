public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// The states of a value that loads, as an asynchronous sequence: loading, then each value or the final
/// failure.
///
/// The sequence loads nothing before iteration and never runs ahead of its consumer. It ends after a failure,
/// after the last value, and when the task is cancelled.
public struct LoadingStates<Value: Sendable>: AsyncSequence, Sendable {
  /// Returns the next value; nil at the end.
  package typealias Next = @Sendable () async throws(PersistenceError) -> Value?

  /// A state.
  public typealias Element = LoadingState<Value>

  /// Never: failures are states.
  public typealias Failure = Never

  private let begin: @Sendable () -> Next

  /// Creates a sequence from a closure for each iterator, which one task at a time calls once for each value.
  package init(_ begin: @escaping @Sendable () -> Next) { self.begin = begin }

  /// Creates a sequence of one value.
  ///
  /// - Parameter load: Loads the value.
  public init(of load: @escaping @Sendable () async throws(PersistenceError) -> Value) {
    self.init {
      let isDone = Flag()
      return { () async throws(PersistenceError) -> Value? in
        if isDone.set() { return nil }
        return try await load()
      }
    }
  }

  /// Iterates over the states.
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

    /// The next state, in the isolation of an actor; nil at the end.
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
          // A cancelled task gets no failure.
          return error.code == .cancelled && Task.isCancelled ? nil : .failure(error, last: last)
        }
        stage = .over
        return nil
      }
    }
  }

  /// Starts loading.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin) }
}

/// A flag that can be set once.
final class Flag: Sendable {
  private let isSet = Atomic<Bool>(false)

  /// Sets the flag and returns its previous value.
  func set() -> Bool { isSet.exchange(true, ordering: .acquiringAndReleasing) }
}

extension DataSourceQuery {
  /// The objects that match, as loading states.
  public var states: LoadingStates<[Source.Object]> {
    LoadingStates { () async throws(PersistenceError) in
      do {
        return try await result()
      } catch {
        throw PersistenceError(of: error)
      }
    }
  }
}

extension RecordUpdates {
  /// The updates, as loading states.
  public var states: LoadingStates<RecordUpdate<Record>> {
    LoadingStates { SequenceIterator(self).next }
  }
}
