public import PersistenceDriver

/// How far the loading of a value has come.
///
/// Once there has been a value, it is kept while a newer one is loaded and where that fails: who shows it need not blank
/// the screen.
public enum LoadingState<Value> {
  /// Nothing has been asked for.
  case idle

  /// A value is on its way; `last` is the one before, where there was one.
  case loading(last: Value?)

  /// The newest value.
  case success(Value)

  /// The newest value could not be had; `last` is the one before, where there was one.
  case failure(PersistenceError, last: Value?)

  /// The newest value that there is, whatever is going on.
  public var value: Value? {
    switch self {
    case .idle: nil
    case .loading(let last), .failure(_, let last): last
    case .success(let value): value
    }
  }

  /// Whether a value is on its way.
  public var isLoading: Bool {
    if case .loading = self { return true }
    return false
  }

  /// Why the newest value could not be had.
  public var error: PersistenceError? {
    if case .failure(let error, _) = self { return error }
    return nil
  }

  /// The state when loading begins now.
  public var begun: LoadingState { .loading(last: value) }

  /// The state when loading fails now.
  public func failed(_ error: PersistenceError) -> LoadingState { .failure(error, last: value) }

  /// The state with another value in it.
  ///
  /// - Parameter transform: Makes it of this one's.
  /// - Returns: The same state, with what the closure makes of the value.
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
