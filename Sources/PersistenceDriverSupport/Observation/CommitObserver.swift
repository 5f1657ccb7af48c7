import Synchronization
import PersistencePrimitives
import PersistenceDriver

/// Somebody who waits for commits that change the records of a request, and what has changed since they last looked.
package final class CommitObserver: Sendable {
  /// What is observed; its limit, offset and anchor do not matter here.
  package let request: FetchRequest

  let model: StoredName
  let predicate: CompiledPredicate
  let keyLimit: Int
  /// The observed context, whose closing ends the observer.
  let owner: ObjectIdentifier

  private let state: Mutex<State>

  private struct State {
    var changes: KeyChanges
    var hasEnded = false
    /// Iterators can be copied, so that several tasks may wait at once.
    var waiters: [CheckedContinuation<Void, Never>] = []

    mutating func wake() -> [CheckedContinuation<Void, Never>] {
      defer { waiters = [] }
      return waiters
    }
  }

  /// Makes an observer, which is told of commits between ``CommitObservers/add(_:)`` and
  /// ``CommitObservers/remove(_:)``.
  ///
  /// - Parameters:
  ///   - request: The records.
  ///   - context: Where they are.
  ///   - keyLimit: How many keys of changed records are remembered at most.
  /// - Throws: ``PersistenceError`` where the request's condition cannot be evaluated.
  package init(_ request: FetchRequest, in context: any StorageContext, keyLimit: Int) throws {
    self.request = request
    // One more is read to see whether there are too many, and there is a number after each limit.
    self.keyLimit = min(max(0, keyLimit), Int.max - 1)
    model = StoredName(request.schema.name)
    predicate = try CompiledPredicate(request.predicate, in: request.schema)
    owner = ObjectIdentifier(context.innermost)
    state = Mutex(State(changes: KeyChanges(limit: self.keyLimit)))
  }

  /// The condition for rows of a schema that a writer uses, which may name the fields in another order; nil where every
  /// row fits.
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
          // A task is cancelled before its handlers are called: either this is seen here, or they see the waiter.
          guard state.changes.isEmpty, !state.hasEnded, !Task.isCancelled else { return true }
          state.waiters.append(continuation)
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      // Whoever else waits finds nothing, and waits again.
      for waiter in state.withLock({ $0.wake() }) { waiter.resume() }
    }
  }

  /// What has changed since the last time this was asked.
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

  func lose() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      state.changes.lose()
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
