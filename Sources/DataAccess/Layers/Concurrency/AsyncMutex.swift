import PersistenceCore
import Synchronization

/// A mutual exclusion lock for tasks, in order of arrival.
final class AsyncMutex: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var begun = 0
  }

  private let state = Mutex(State())

  /// Runs a closure under the lock.
  func withLock<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    await lock()
    defer { unlock() }
    return try await body()
  }

  func lock() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if !state.isTaken {
          state.isTaken = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func unlock() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.begun < state.waiting.count else {
        state.isTaken = false
        return nil
      }
      let next = state.waiting[state.begun]
      state.begun += 1
      if state.begun == state.waiting.count || state.begun > 256 {
        state.waiting.removeFirst(state.begun)
        state.begun = 0
      }
      return next
    }
    next?.resume()
  }
}

/// Locks by key: writes of one object run in order, writes of different objects concurrently.
final class KeyedMutex: Sendable {
  private struct Entry {
    let mutex = AsyncMutex()
    var users = 0
  }

  private let mutexes = Mutex<[RecordKey: Entry]>([:])

  /// Runs a closure under the locks of all keys.
  func withLock<Result, Failure: Error>(
    _ keys: [RecordKey], _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    // Lock in a fixed order, to prevent deadlocks between writes of the same objects.
    let keys = Array(Set(keys)).sorted()
    for key in keys {
      let mutex = mutexes.withLock { mutexes in
        mutexes[key, default: Entry()].users += 1
        return mutexes[key]?.mutex
      }
      await mutex?.lock()
    }
    defer {
      for key in keys {
        let mutex = mutexes.withLock { mutexes in
          let mutex = mutexes[key]?.mutex
          mutexes[key]?.users -= 1
          if mutexes[key]?.users == 0 { mutexes.removeValue(forKey: key) }
          return mutex
        }
        mutex?.unlock()
      }
    }
    return try await body()
  }
}
