#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The identity of a thread: constant while it lives, and different for two live threads.
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

  /// The identity of no thread.
  package static let nobody = ThreadIdentity(number: 0)

  /// A number that differs for most threads, from which a thread derives its first slot in a pool.
  package var spread: Int {
    // Thread addresses differ in their middle bits; the multiplication moves these to the top.
    Int(truncatingIfNeeded: (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 48)
  }
}
