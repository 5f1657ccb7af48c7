import Dispatch
import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// An iterator's hold on its walk, which ends with it.
///
/// The threads that work for a walk hold that and not this one: so it ends at once, and not when they have finished.
final class ObservationHold<Model: PersistentRecord>: Sendable {
  let observation: Observation<Model>

  init(_ observation: Observation<Model>) { self.observation = observation }

  deinit { observation.end() }
}

/// One walk over updates: an observer of the store until it is ended, and no thread, timer or task beyond a call of
/// ``next()``.
final class Observation<Model: PersistentRecord>: Sendable {
  private enum State {
    case new
    case observing(Observed)
    case over
  }

  /// What is observed, as long as it is.
  private struct Observed {
    let store: any StorageContext
    let observers: CommitObservers
    let observer: CommitObserver
  }

  private let context: any PersistentContext
  private let query: FetchOptions<Model>
  private let options: ObservationOptions
  private let state = Mutex(State.new)

  init(_ context: any PersistentContext, _ query: FetchOptions<Model>, _ options: ObservationOptions) {
    self.context = context
    self.query = query
    self.options = options
  }

  /// The next update; nil where the task was cancelled or the walk is over.
  func next() async throws(PersistenceError) -> RecordUpdate<Model>? {
    do {
      let update = try await step()
      if update == nil { end() }
      return update
    } catch {
      end()
      throw error as? PersistenceError ?? PersistenceError(.engineFailure, "\(error)")
    }
  }

  private func step() async throws -> RecordUpdate<Model>? {
    while true {
      switch state.withLock({ $0 }) {
      case .over: return nil
      case .new:
        if Task.isCancelled { return nil }
        let first = try await onThread { [self] in try begin().flatMap { try look($0, isFirst: true) } }
        if let first { return first }
      case .observing(let observed):
        try await wait(for: observed)
        if Task.isCancelled { return nil }
        if let update = try await onThread({ [self] in try look(observed, isFirst: false) }) { return update }
      }
    }
  }

  /// Begins to observe; nil where another call of ``next()`` has begun meanwhile, or has ended it all.
  private func begin() throws -> Observed? {
    let store = try StorageAccess.store(try outside(context), for: Model.self)
    guard store.capabilities.reportsCommits, let observable = store.innermost as? any ObservableContext else {
      throw PersistenceError.unsupported("be observed", by: "the context \(store.location)")
    }
    let observed = Observed(
      store: store, observers: observable.observers,
      observer: try CommitObserver(query.request(in: store), in: store, keyLimit: options.keyLimit))
    try observed.observers.add(observed.observer)
    let isOurs = state.withLock { state in
      guard case .new = state else { return false }
      state = .observing(observed)
      return true
    }
    guard isOurs else {
      observed.observers.remove(observed.observer)
      return nil
    }
    return observed
  }

  private func outside(_ context: any PersistentContext) throws -> any PersistentContext {
    guard let inside = context as? TransactionContext else { return context }
    throw PersistenceError(
      .unsupported, "a transaction cannot be observed; observe the repository that it was begun on",
      location: inside.root.location)
  }

  /// Pins the newest state, where anything has changed since the last one.
  private func look(_ observed: Observed, isFirst: Bool) throws -> RecordUpdate<Model>? {
    let store = observed.store
    let (snapshot, changes) = try observed.observers.look(observed.observer, at: store)
    guard isFirst || !changes.isEmpty else { return nil }
    // A migration that has begun since is told as unknown, whoever runs it.
    if isFirst || changes.isUnknown, try snapshot.holdsUnfinishedMigration() {
      throw PersistenceError.incompleteStore(store.location)
    }
    let request = observed.observer.request
    let results = try store.monitor.measure(request) {
      try snapshot.plan(for: request)
    } _: {
      try PersistentResults<Model>(
        snapshot.fetch(request), request: request, selecting: nil, monitor: store.monitor,
        location: store.location, place: query.place
      ) { try Model(from: $0) }
    }
    return RecordUpdate(results: results, changes: isFirst ? .first : ChangeSet(changes))
  }

  /// Waits until there is something to look at, asking for other processes' commits now and then.
  private func wait(for observed: Observed) async throws {
    guard observed.observers.noticesOutsideCommits else { return await observed.observer.wait() }
    let options = options
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await observed.observer.wait() }
      group.addTask {
        // Ends by cancellation, when the other has been woken: also by what is found here.
        while !Task.isCancelled {
          do {
            try await options.clock.sleep(for: options.outsideInterval)
          } catch is CancellationError {
            return
          }
          try await onThread { try observed.observers.checkOutside() }
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  func end() {
    let last = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .observing(let observed) = last { observed.observers.remove(observed.observer) }
  }
}

/// Runs a closure where it may block, which the threads of tasks must not.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
  -> Result
{
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async {
      continuation.resume(with: Swift.Result(catching: body))
    }
  }
}
