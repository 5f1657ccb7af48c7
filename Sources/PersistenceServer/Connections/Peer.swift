#if HTTP
  import Foundation
  import NIOCore

  /// The machine or network of a client, which limits apply to: an IPv4 address, or the first half of an IPv6 address.
  struct Peer: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Creates the peer of an address; all clients without an IP address, such as those of a socket file, are one.
    init(_ address: SocketAddress?) {
      switch address {
      case .v4(let address): bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
      case .v6(let address):
        let all = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        // An IPv4 address in the form of an IPv6 address.
        let isMapped = all.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        bytes = isMapped ? Array(all.suffix(4)) : Array(all.prefix(8))
      default: bytes = []
      }
    }
  }
#endif
