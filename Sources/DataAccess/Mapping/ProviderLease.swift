import PersistenceCore
import PersistenceDriver
import Synchronization

/// A source of stores that a manager hands out until it is exchanged, and who still uses it then.
final class ProviderGeneration: Sendable {
  let source: any DataSourceProvider
  private let state = Mutex(State())

  private struct State {
    var users = 0
    var isOver = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0

    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      defer { waiters = [:] }
      return waiters.values.map(\.self)
    }
  }

  init(_ source: any DataSourceProvider) { self.source = source }

  /// Whether the manager has another source by now.
  var isOver: Bool { state.withLock(\.isOver) }

  func begin() { state.withLock { $0.users += 1 } }

  func end() {
    let woken = state.withLock { state in
      state.users -= 1
      return state.users == 0 && state.isOver ? state.takeWaiters() : []
    }
    for waiter in woken { waiter.resume() }
  }

  /// Says that the manager has another source: nobody begins anything more on this one.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      return state.takeWaiters()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Waits until the manager has another source, or the task is cancelled.
  func untilOver() async { await wait { $0.isOver } }

  /// Waits until nothing is under way any more on a source that is over, or the task is cancelled.
  func untilUnused() async { await wait { $0.isOver && $0.users == 0 } }

  private func wait(_ isReached: @escaping @Sendable (borrowing State) -> Bool) async {
    while !Task.isCancelled {
      let number = state.withLock { state in
        state.next += 1
        return state.next
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isDue = state.withLock { state in
            if isReached(state) || Task.isCancelled { return true }
            state.waiters[number] = continuation
            return false
          }
          if isDue { continuation.resume() }
        }
      } onCancel: {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
      }
      if state.withLock({ isReached($0) }) { return }
    }
  }
}

/// One use of a source, from when it is made until it is released.
final class ProviderLease: Sendable {
  let tenure: ProviderGeneration

  /// Takes over a use that the tenure was told of.
  init(begun tenure: ProviderGeneration) { self.tenure = tenure }

  deinit { tenure.end() }
}

/// What one operation of a data access object uses.
struct DataSourceUse<Entity: PersistentRecord>: Sendable {
  let store: any DataSource<Entity>
  /// What can be observed; nil where that is not known.
  let source: (any DataSourceProvider)?
  /// Keeps the store open; nil where nobody could close it.
  let lease: ProviderLease?
}
