import PersistencePrimitives
import PersistenceDriver

/// An observer that waits for commits to the records of a request, and tracks the changes since its last read.
package final class CommitObserver: Sendable {
  /// The observed request as its program declares it; its limit, offset and anchor do not matter.
  package let request: FetchRequest

  let keyLimit: Int
  private let keepsUndone: Bool
  /// The observed context; closing it ends the observer.
  let owner: ObjectIdentifier

  private let state: Lock<State>

  /// What to observe, in terms of the store, whose schema may differ from the declared one and may change.
  struct Target: Sendable {
    /// The names that the model has or had since ``CommitObserver/settle(_:)``.
    var models: Set<StoredName>
    let request: FetchRequest
    let predicate: CompiledPredicate
    /// The number of times that the target was settled.
    var version = 0

    init(_ request: FetchRequest) throws {
      self.request = try FetchRequest(request.schema, where: request.predicate)
      models = [StoredName(request.schema.name)]
      predicate = try CompiledPredicate(request.predicate, in: request.schema)
    }

    /// The condition for rows of a writer's schema, which may order the fields differently; nil if every row matches.
    func predicate(for schema: ModelSchema) throws -> CompiledPredicate? {
      guard request.predicate != nil else { return nil }
      if schema.identity == request.schema.identity || schema == request.schema { return predicate }
      return try CompiledPredicate(request.predicate, in: schema)
    }
  }

  private struct State {
    var changes: KeyChanges
    var target: Target
    /// Whether the schema of the store may have changed since the target was settled.
    var isStale = false
    var hasEnded = false
    /// Several tasks may wait, because iterators can be copied.
    var waiters: [CheckedContinuation<Void, Never>] = []

    mutating func wake() -> [CheckedContinuation<Void, Never>] {
      defer { waiters = [] }
      return waiters
    }
  }

  /// Creates an observer, which gets commits between ``CommitObservers/add(_:)`` and ``CommitObservers/remove(_:)``
  /// and tracks a maximum number of changed keys.
  ///
  /// `keepsUndone` keeps keys of records that were inserted and deleted since the last read.
  package init(
    _ request: FetchRequest, in context: any StorageContext, keyLimit: Int, keepsUndone: Bool = false
  ) throws {
    (self.request, self.keepsUndone) = (request, keepsUndone)
    // One more row than the limit is read, so the limit must be less than Int.max.
    self.keyLimit = min(max(0, keyLimit), Int.max - 1)
    owner = ObjectIdentifier(context.innermost)
    let changes = KeyChanges(limit: self.keyLimit, keepsUndone: keepsUndone)
    state = Lock(State(changes: changes, target: try Target(request)))
  }

  var target: Target { state.withLock { $0.target } }

  /// Whether the schema of the store may have changed since the last ``settle(_:)``.
  var isStale: Bool { state.withLock { $0.isStale } }

  /// Sets what to observe: the request in terms of the newest state, to which no commit is added meanwhile.
  func settle(_ request: FetchRequest) throws {
    let known = target
    var new: Target?
    if known.request != request || known.models.count > 1 { new = try Target(request) }
    new?.version = known.version + 1
    state.withLock { [new] state in
      if let new { state.target = new }
      state.isStale = false
    }
  }

  /// Records changes of schemas, by the names of the models before and after, in order.
  ///
  /// The observer wakes to find out whether its request still has an answer. If it has, no update follows.
  func schemasChanged(_ names: [(StoredName, StoredName)]) -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      let concerned = names.filter { before, after in
        guard state.target.models.contains(before) else { return false }
        state.target.models.insert(after)
        return true
      }
      guard !concerned.isEmpty else { return [] }
      state.isStale = true
      return state.wake()
    }
  }

  /// Waits until there are changes, the schema or the context has changed, or the task is cancelled.
  package func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          // Cancellation precedes its handler: either this check sees it, or the handler sees the waiter.
          guard state.changes.isEmpty, !state.isStale, !state.hasEnded, !Task.isCancelled else { return true }
          state.waiters.append(continuation)
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      // Other waiters find no changes and wait again.
      for waiter in state.withLock({ $0.wake() }) { waiter.resume() }
    }
  }

  /// The changes since the last call.
  func takeChanges() -> KeyChanges {
    state.withLock { state in
      defer { state.changes = KeyChanges(limit: keyLimit, keepsUndone: keepsUndone) }
      return state.changes
    }
  }

  func merge(_ changes: KeyChanges) -> [CheckedContinuation<Void, Never>] {
    guard !changes.isEmpty else { return [] }
    return state.withLock { state in
      state.changes.merge(changes)
      return state.changes.isEmpty ? [] : state.wake()
    }
  }

  /// Any record, and the schema, may have changed.
  func discardKeys() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      state.changes.discardKeys()
      state.isStale = true
      return state.wake()
    }
  }

  func end() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      state.hasEnded = true
      return state.wake()
    }
  }

  /// Whether the context was closed.
  package var hasEnded: Bool { state.withLock { $0.hasEnded } }
}
