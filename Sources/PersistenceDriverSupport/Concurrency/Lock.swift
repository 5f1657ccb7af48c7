#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A value that one thread at a time may use, for what every read of a store passes through.
///
/// Elsewhere the standard library's `Mutex` does. On Linux that one is handed to the thread that waits longest (a
/// futex with priority inheritance), so that more threads than cores sleep and wake at every turn: `make
/// bench-scaling` saw eight readers at a twentieth of one's speed. A pthread mutex is taken by whoever runs.
package struct Lock<Value>: ~Copyable, @unchecked Sendable {  // the value is used under the mutex only
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  /// Protects a value.
  package init(_ value: Value) {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Lends the value; a closure that locks again waits for itself.
  ///
  /// - Parameter body: Uses the value.
  /// - Returns: The result of the closure.
  /// - Throws: The closure's error.
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
