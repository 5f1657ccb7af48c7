import Synchronization
import PersistencePrimitives
import PersistenceDriver

/// An observer that waits for commits to the records of a request, and tracks the changes since its last read.
package final class CommitObserver: Sendable {
  /// The observed request; its limit, offset and anchor do not matter.
  package let request: FetchRequest

  let model: StoredName
  let predicate: CompiledPredicate
  let keyLimit: Int
  /// The observed context; closing it ends the observer.
  let owner: ObjectIdentifier

  private let state: Mutex<State>

  private struct State {
    var changes: KeyChanges
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
  package init(_ request: FetchRequest, in context: any StorageContext, keyLimit: Int) throws {
    self.request = request
    // One more row than the limit is read, so the limit must be less than Int.max.
    self.keyLimit = min(max(0, keyLimit), Int.max - 1)
    model = StoredName(request.schema.name)
    predicate = try CompiledPredicate(request.predicate, in: request.schema)
    owner = ObjectIdentifier(context.innermost)
    state = Mutex(State(changes: KeyChanges(limit: self.keyLimit)))
  }

  /// The condition for rows of a writer's schema, which may order the fields differently; nil if every row matches.
  func predicate(for schema: ModelSchema) throws -> CompiledPredicate? {
    guard request.predicate != nil else { return nil }
    if schema.identity == request.schema.identity || schema == request.schema { return predicate }
    return try CompiledPredicate(request.predicate, in: schema)
  }

  /// Waits until there are changes, the context was closed or the task is cancelled.
  package func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          // Cancellation precedes its handler: either this check sees it, or the handler sees the waiter.
          guard state.changes.isEmpty, !state.hasEnded, !Task.isCancelled else { return true }
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
      defer { state.changes = KeyChanges(limit: keyLimit) }
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

  func discardKeys() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      state.changes.discardKeys()
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
  package var hasEnded: Bool { state.withLock(\.hasEnded) }
}
