import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The iterator's reference to its observation, which ends when the iterator is released.
///
/// Working threads reference the observation and not this object, so the end does not wait for them.
final class ObservationHold<Model: PersistentRecord>: Sendable {
  let observation: Observation<Model>

  init(_ observation: Observation<Model>) { self.observation = observation }

  deinit { observation.end() }
}

/// One iteration over updates.
///
/// It registers an observer until it ends, and has no thread, timer or task outside calls of ``next()``.
final class Observation<Model: PersistentRecord>: Sendable {
  private enum State {
    case new
    case observing(Observed)
    case over
  }

  /// The registered observer and the observers of its store.
  private struct Observed {
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

  /// The next update; nil if the task was cancelled or the iteration has ended.
  func next() async throws(PersistenceError) -> RecordUpdate<Model>? {
    do {
      let update = try await step()
      if update == nil { end() }
      return update
    } catch {
      end()
      if error is CancellationError { return nil }
      throw error as? PersistenceError ?? PersistenceError(.engineFailure, "\(error)")
    }
  }

  private func step() async throws -> RecordUpdate<Model>? {
    while true {
      switch state.withLock({ $0 }) {
      case .over: return nil
      case .new:
        if Task.isCancelled { return nil }
        let first = try await BlockingThreads.reading.run { [self] in
          try begin().flatMap { try look($0, isFirst: true) }
        }
        if let first { return first }
      case .observing(let observed):
        try await wait(for: observed)
        if Task.isCancelled { return nil }
        let update = try await BlockingThreads.reading.run { [self] in try look(observed, isFirst: false) }
        if let update { return update }
      }
    }
  }

  /// Registers the observer; nil if another call of ``next()`` has registered one, or ended the iteration.
  private func begin() throws -> Observed? {
    if let inside = context as? TransactionContext {
      throw PersistenceError(
        .unsupported, "a transaction cannot be observed; observe its repository",
        location: inside.root.location)
    }
    let store = try StorageAccess.store(
      context, for: Model.self, hasFormerNames: Model.schema.hasFormerNames)
    guard store.capabilities.reportsCommits, let observable = store.innermost as? any ObservableContext else {
      throw PersistenceError.unsupported("be observed", by: "the context \(store.location)")
    }
    let observed = Observed(
      observers: observable.observers,
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

  /// Pins the newest state, if it has changed.
  ///
  /// Each read has an access of its own, because another version of the app may have changed the schema.
  private func look(_ observed: Observed, isFirst: Bool) throws -> RecordUpdate<Model>? {
    try StorageAccess.with(context, for: Model.self) { access in
      try look(observed, isFirst: isFirst, at: access.root)
    }
  }

  private func look(_ observed: Observed, isFirst: Bool, at store: any StorageContext) throws
    -> RecordUpdate<Model>?
  {
    let (snapshot, changes) = try observed.observers.look(observed.observer, at: store)
    guard isFirst || !changes.isEmpty else { return nil }
    // A copy that began in the meantime causes unknown changes.
    if isFirst || changes.isUnknown, try snapshot.holdsUnfinishedMigration() {
      throw PersistenceError.incompleteStore(store.location)
    }
    let request = observed.observer.request
    let results = try store.monitor.measure(request) {
      try snapshot.plan(for: request)
    } _: {
      let decoder = RowDecoder(schema: request.schema, selecting: nil, location: store.location) {
        try Model(from: $0)
      }
      return PersistentResults(
        storage: try ResultStorage(
          snapshot.fetch(request), of: request, decoder, store.monitor, place: query.place))
    }
    return RecordUpdate(results: results, changes: isFirst ? .first : ChangeSet(changes))
  }

  /// Waits for changes, and polls for commits of other processes.
  private func wait(for observed: Observed) async throws {
    guard observed.observers.noticesOutsideCommits else { return await observed.observer.wait() }
    let options = options
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await observed.observer.wait() }
      group.addTask {
        // The other task wakes, also for changes found here, and then cancels this one.
        while !Task.isCancelled {
          do {
            try await options.clock.sleep(for: options.outsideInterval)
          } catch is CancellationError {
            return
          }
          try await BlockingThreads.reading.run { try observed.observers.checkOutside() }
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
