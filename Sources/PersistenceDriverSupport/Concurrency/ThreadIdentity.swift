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

  /// A number that differs for most threads: from it a thread begins to look for a place of its own.
  package var spread: Int {
    // Addresses of threads differ in bits in the middle; multiplying brings all of them to the top.
    Int(truncatingIfNeeded: (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 48)
  }
}
