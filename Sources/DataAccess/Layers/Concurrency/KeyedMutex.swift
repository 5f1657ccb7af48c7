import PersistenceCore
import Synchronization

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
