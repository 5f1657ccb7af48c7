public import Observation
import PersistenceDriver

/// Something that is loaded, for a user interface: its ``state`` is observable, and changes on the main actor.
///
/// ```swift
/// let movies = LoadingModel(of: repository.updates(of: Movie.self).states)
/// movies.start()
/// ```
///
/// Nothing is loaded before ``start()``. Loading ends by ``stop()``, and when the model is released.
@MainActor
@Observable
public final class LoadingModel<Value: Sendable> {
  /// How far loading has come.
  public private(set) var state = LoadingState<Value>.idle

  @ObservationIgnored private let states: LoadingStates<Value>
  @ObservationIgnored private let loading = LoadingTask()

  /// Makes a model that has loaded nothing.
  ///
  /// - Parameter states: What is loaded.
  public init(of states: LoadingStates<Value>) { self.states = states }

  /// The newest value that there is.
  public var value: Value? { state.value }

  /// Begins to load, unless it is being loaded or observed already.
  public func start() {
    if !loading.isRunning { reload() }
  }

  /// Loads anew; the last value stays until there is a newer one.
  public func reload() {
    state = state.begun
    let states = states
    loading.replace { [weak self] isCurrent in
      for await state in states {
        // A model that was released, or that has begun anew, is not told.
        guard isCurrent() else { return }
        self?.take(state)
      }
    }
  }

  /// Ends loading; the last value stays.
  public func stop() {
    loading.cancel()
    guard state.isLoading else { return }
    state = state.value.map { .success($0) } ?? .idle
  }

  /// Waits until nothing is being loaded any more: for what is loaded once.
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

/// The one task of a model, which ends with it.
private final class LoadingTask {
  private var task: Task<Void, Never>?
  private var number = 0

  var isRunning: Bool { task != nil }

  deinit { task?.cancel() }

  @MainActor
  func replace(_ body: @escaping @MainActor (_ isCurrent: () -> Bool) async -> Void) {
    task?.cancel()
    number += 1
    let mine = number
    task = Task { @MainActor [weak self] in
      await body { self?.number == mine && !Task.isCancelled }
      if let self, self.number == mine { self.task = nil }
    }
  }

  @MainActor
  func cancel() {
    task?.cancel()
    task = nil
    number += 1
  }

  /// Waits until none runs: where one has taken another's place meanwhile, for that one too.
  @MainActor
  func finished() async {
    while let task { await task.value }
  }
}
