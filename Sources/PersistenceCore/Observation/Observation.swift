import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The iterator's reference to its observation, which ends when the iterator is released.
///
/// Working threads reference the observation and not this object, so the end does not wait for them.
final class ObservationHold<Record: Sendable>: Sendable {
  let observation: Observation<Record>

  init(_ observation: Observation<Record>) { self.observation = observation }

  deinit { observation.end() }
}

/// One iteration over updates.
///
/// It registers an observer until it ends, and has no thread, timer or task outside calls of ``next()``.
final class Observation<Record: Sendable>: Sendable {
  private enum State {
    case new
    case observing(Observed)
    case over
  }

  /// The registered observers, and the observers of their store.
  private struct Observed {
    let observers: CommitObservers
    let observer: CommitObserver
    /// The observers of related models, whose commits have no keys.
    let others: [CommitObserver]

    var all: [CommitObserver] { [observer] + others }
  }

  private let context: any PersistentContext
  private let query: ObservedQuery<Record>
  private let options: ObservationOptions
  private let state = Mutex(State.new)

  init(_ context: any PersistentContext, _ query: ObservedQuery<Record>, _ options: ObservationOptions) {
    self.context = context
    self.query = query
    self.options = options
  }

  /// The next update; nil if the task was cancelled or the iteration has ended.
  func next() async throws(PersistenceError) -> RecordUpdate<Record>? {
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

  private func step() async throws -> RecordUpdate<Record>? {
    var retries = ObservationRetries(options)
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
        let update = try await retries.attempt(context) { [self] in
          try await BlockingThreads.reading.run { try self.look(observed, isFirst: false) }
        }
        if let update = update ?? nil { return update }
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
    let store = try query.store(context)
    guard store.capabilities.reportsCommits, let observable = store.innermost as? any ObservableContext else {
      throw PersistenceError.unsupported("be observed", by: "the context \(store.location)")
    }
    let requests = try query.requests(store)
    let observed = Observed(
      observers: observable.observers,
      observer: try CommitObserver(
        requests[0], in: store, keyLimit: query.hasRelations ? 0 : options.keyLimit),
      others: try requests.dropFirst().map { try CommitObserver($0, in: store, keyLimit: 0) })
    for observer in observed.all { try observed.observers.add(observer) }
    let isOurs = state.withLock { state in
      guard case .new = state else { return false }
      state = .observing(observed)
      return true
    }
    guard isOurs else {
      for observer in observed.all { observed.observers.remove(observer) }
      return nil
    }
    return observed
  }

  /// Pins the newest state, if it has changed.
  ///
  /// Each read has an access of its own, because another version of the app may have changed the schema.
  private func look(_ observed: Observed, isFirst: Bool) throws -> RecordUpdate<Record>? {
    var update: RecordUpdate<Record>?
    // A look that is repeated, because the schema has changed, does not take these changes again.
    var (isRelatedChange, hasTaken) = (false, false)
    // What a failed look has taken is told later, without its keys.
    defer { if update == nil, hasTaken { observed.observers.discardKeys(of: observed.observer) } }
    try query.read(context) { store in
      // The newest snapshot has what the related models' observers were told before.
      for other in observed.others {
        if try !observed.observers.look(other, at: store).changes.isEmpty {
          (isRelatedChange, hasTaken) = (true, true)
        }
      }
      let (snapshot, changes) = try observed.observers.look(observed.observer, at: store)
      if !changes.isEmpty { hasTaken = true }
      guard isFirst || isRelatedChange || !changes.isEmpty else { return nil }
      // A copy that began in the meantime causes unknown changes.
      if isFirst || changes.isUnknown, try snapshot.holdsUnfinishedMigration() {
        throw PersistenceError.incompleteStore(store.location)
      }
      return (snapshot, isFirst ? .first : isRelatedChange ? .unknown : ChangeSet(changes))
    } _: { results, changes in
      update = RecordUpdate(results: results, changes: changes)
    }
    return update
  }

  /// Waits for changes, and polls for commits of other processes.
  private func wait(for observed: Observed) async throws {
    let isAlone = observed.others.isEmpty
    if isAlone, !observed.observers.noticesOutsideCommits { return await observed.observer.wait() }
    let (options, context) = (options, context)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for observer in observed.all { group.addTask { await observer.wait() } }
      if observed.observers.noticesOutsideCommits {
        group.addTask {
          // The other task wakes, also for changes found here, and then cancels this one.
          var retries = ObservationRetries(options)
          while !Task.isCancelled {
            do {
              try await options.clock.sleep(for: options.outsideInterval)
            } catch is CancellationError {
              return
            }
            _ = try await retries.attempt(context) {
              try await BlockingThreads.reading.run { try observed.observers.checkOutside() }
            }
          }
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
    if case .observing(let observed) = last {
      for observer in observed.all { observed.observers.remove(observer) }
    }
  }
}
