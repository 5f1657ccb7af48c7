public import PersistenceDriver

/// The state of a value that loads.
///
/// The last value stays available while a newer one loads and after a failure, so a view need not go blank.
public enum LoadingState<Value> {
  /// Loading has not started.
  case idle

  /// A value is loading; `last` is the previous value.
  case loading(last: Value?)

  /// The newest value.
  case success(Value)

  /// Loading failed; `last` is the previous value.
  case failure(PersistenceError, last: Value?)

  /// The newest value, in any state.
  public var value: Value? {
    switch self {
    case .idle: nil
    case .loading(let last), .failure(_, let last): last
    case .success(let value): value
    }
  }

  /// Whether a value is loading.
  public var isLoading: Bool {
    if case .loading = self { return true }
    return false
  }

  /// The error of the last attempt.
  public var error: PersistenceError? {
    if case .failure(let error, _) = self { return error }
    return nil
  }

  /// The state after loading starts.
  package var begun: LoadingState { .loading(last: value) }

  /// The state after loading fails.
  package func failed(_ error: PersistenceError) -> LoadingState { .failure(error, last: value) }

  /// The state with a converted value.
  ///
  /// - Parameter transform: Converts the value.
  /// - Returns: The same state with the converted value.
  public func map<Other>(_ transform: (Value) -> Other) -> LoadingState<Other> {
    switch self {
    case .idle: .idle
    case .loading(let last): .loading(last: last.map(transform))
    case .success(let value): .success(transform(value))
    case .failure(let error, let last): .failure(error, last: last.map(transform))
    }
  }
}

extension LoadingState: Sendable where Value: Sendable {}
