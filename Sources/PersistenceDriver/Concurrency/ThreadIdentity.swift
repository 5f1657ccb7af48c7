#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Which thread this is: equal for two moments of one thread, different for two threads that are alive.
package struct ThreadIdentity: Sendable, Hashable {
  private let number: UInt

  /// The calling thread's identity.
  package static var current: ThreadIdentity {
    #if canImport(Darwin)
      ThreadIdentity(number: UInt(bitPattern: pthread_self()))
    #else
      ThreadIdentity(number: UInt(pthread_self()))
    #endif
  }
}
