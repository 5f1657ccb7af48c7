import PersistenceCore
import Synchronization

/// A mutual exclusion lock for tasks, in order of arrival.
final class AsyncMutex: Sendable {
  private struct State {
    var isTaken = false
    var continuations: [Int: CheckedContinuation<Bool, Never>] = [:]
    /// The waiting tasks in order of arrival, also those that were cancelled; those before `begun` have left.
    var order: [Int] = []
    var begun = 0
    var tasks = 0

    /// Removes the first task that waits; nil if none does.
    mutating func removeFirst() -> CheckedContinuation<Bool, Never>? {
      while begun < order.count {
        let next = continuations.removeValue(forKey: order[begun])
        begun += 1
        if begun == order.count || begun > 256 {
          order.removeFirst(begun)
          begun = 0
        }
        if let next { return next }
      }
      return nil
    }
  }

  private let state = Mutex(State())

  var isTaken: Bool { state.withLock(\.isTaken) }

  /// The number of tasks that wait.
  var waiting: Int { state.withLock(\.continuations.count) }

  /// Runs a closure under the lock.
  func withLock<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    await lock()
    defer { unlock() }
    return try await body()
  }

  /// Waits for the lock, also in a cancelled task.
  func lock() async { _ = await wait(untilCancelled: false) }

  /// Waits for the lock.
  ///
  /// - Returns: False if the task was cancelled while it waited; it has no lock then.
  func lockUnlessCancelled() async -> Bool { await wait(untilCancelled: true) }

  private func wait(untilCancelled isCancellable: Bool) async -> Bool {
    let task = state.withLock { state in
      state.tasks += 1
      return state.tasks
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state -> Bool? in
          if isCancellable, Task.isCancelled { return false }
          if !state.isTaken {
            state.isTaken = true
            return true
          }
          state.continuations[task] = continuation
          state.order.append(task)
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      guard isCancellable else { return }
      state.withLock { $0.continuations.removeValue(forKey: task) }?.resume(returning: false)
    }
  }

  func unlock() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      let next = state.removeFirst()
      if next == nil { state.isTaken = false }
      return next
    }
    next?.resume(returning: true)
  }
}

/// Locks by key: writes of one object run in order, writes of different objects concurrently.
final class KeyedMutex: Sendable {
  private struct Entry {
    let mutex = AsyncMutex()
    var users = 0
  }

  private let mutexes = Mutex<[RecordKey: Entry]>([:])

  func isLocked(_ key: RecordKey) -> Bool { mutexes.withLock { $0[key]?.mutex.isTaken ?? false } }

  /// The number of tasks that wait for a key.
  func waiting(for key: RecordKey) -> Int { mutexes.withLock { $0[key]?.mutex.waiting ?? 0 } }

  /// Runs a closure under the locks of all keys, also in a cancelled task.
  func withLock<Result, Failure: Error>(
    _ keys: [RecordKey], _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    // Lock in a fixed order, to prevent deadlocks between writes of the same objects.
    let keys = Array(Set(keys)).sorted()
    for key in keys { await mutex(of: key).lock() }
    defer { for key in keys { release(key, isLocked: true) } }
    return try await body()
  }

  /// Runs a closure under the locks of all keys.
  ///
  /// - Throws: `cancelled`, at once, if the task is cancelled before it has all locks; and the error of the closure.
  func withLockUnlessCancelled<Result>(
    _ keys: [RecordKey], _ body: () async throws(PersistenceError) -> Result
  ) async throws(PersistenceError) -> Result {
    let keys = Array(Set(keys)).sorted()
    var locked = 0
    defer { for key in keys[..<locked] { release(key, isLocked: true) } }
    for key in keys {
      guard await mutex(of: key).lockUnlessCancelled() else {
        release(key, isLocked: false)
        throw .cancelled()
      }
      locked += 1
    }
    if Task.isCancelled { throw .cancelled() }
    return try await body()
  }

  private func mutex(of key: RecordKey) -> AsyncMutex {
    mutexes.withLock { mutexes in
      var entry = mutexes[key] ?? Entry()
      entry.users += 1
      mutexes[key] = entry
      return entry.mutex
    }
  }

  private func release(_ key: RecordKey, isLocked: Bool) {
    let mutex = mutexes.withLock { mutexes -> AsyncMutex? in
      guard var entry = mutexes[key] else { return nil }
      entry.users -= 1
      mutexes[key] = entry.users == 0 ? nil : entry
      return entry.mutex
    }
    if isLocked { mutex?.unlock() }
  }
}
