#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A value protected by a pthread mutex, for state that every read or write of a store, or every request of a server, uses.
///
/// Other state uses the standard library's `Mutex`. On Linux, that is a fair lock: a futex with priority inheritance.
/// With more threads than cores, each acquisition costs a sleep and a wake-up. In `make bench-scaling`, eight readers
/// ran at a twentieth of one reader's speed. A pthread mutex lets a running thread acquire it first.
@usableFromInline
package struct Lock<Value>: ~Copyable, @unchecked Sendable {  // the mutex guards the value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

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

  @usableFromInline
  borrowing func acquire() { pthread_mutex_lock(mutex) }

  @usableFromInline
  borrowing func release() { pthread_mutex_unlock(mutex) }

  /// Runs a closure with exclusive access to the value; a closure that locks again deadlocks.
  @inlinable  // other modules would call the closure with types that are looked up at run time
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    acquire()
    defer { release() }
    return try body(&value.pointee)
  }
}
