public import Observation
import PersistenceDriver

/// A value that loads, for a user interface.
///
/// Its ``state`` is observable and changes on the main actor.
///
/// ```swift
/// let movies = LoadingModel(of: repository.updates(of: Movie.self).states)
/// movies.start()
/// ```
///
/// Loading starts at ``start()``. It ends at ``stop()``, or when the model is released.
@MainActor
@Observable
public final class LoadingModel<Value: Sendable> {
  /// The current state.
  public private(set) var state = LoadingState<Value>.idle

  @ObservationIgnored private let states: LoadingStates<Value>
  @ObservationIgnored private let loading = LoadingTask()

  /// Creates an idle model.
  ///
  /// - Parameter states: The states to load.
  public init(of states: LoadingStates<Value>) { self.states = states }

  /// The newest value.
  public var value: Value? { state.value }

  /// Starts loading, unless it has started already.
  public func start() {
    if !loading.isRunning { reload() }
  }

  /// Loads again and keeps the last value until a newer one arrives.
  public func reload() {
    state = state.begun
    let states = states
    loading.replace { [weak self] isCurrent in
      for await state in states {
        // A model that was released or reloaded ignores the state.
        guard isCurrent() else { return }
        self?.take(state)
      }
    }
  }

  /// Stops loading and keeps the last value.
  public func stop() {
    loading.cancel()
    guard state.isLoading else { return }
    state = state.value.map { .success($0) } ?? .idle
  }

  /// Waits until loading ends.
  ///
  /// Use it for values that load once.
  public func finished() async { await loading.finished() }

  private func take(_ new: LoadingState<Value>) {
    switch new {
    case .idle: break
    case .loading: state = state.begun
    case .success: state = new
    case .failure(let error, _): state = state.failed(error)
    }
  }
}
