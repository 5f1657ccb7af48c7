import Foundation
import PersistenceDriverSupport

/// A connection that can send any bytes, including those that no client library would send.
///
/// Its calls block, so tests use ``run(_:_:)``, on a thread of its own.
public final class RawConnection {
  private let descriptor: Int32

  /// Connects to a port of this machine.
  ///
  /// - Parameters:
  ///   - port: The port.
  ///   - source: The own address; nil for any.
  ///   - receiveBuffer: The bytes that the system keeps for a client that does not read; nil for its default.
  /// - Throws: `POSIXError` if the connection is refused.
  public init(port: Int, from source: String? = nil, receiveBuffer: Int32? = nil) throws {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    descriptor = socket(AF_INET, kind, 0)
    if var size = receiveBuffer {
      // Before the connection, which negotiates it.
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    if let source {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr(source)
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw POSIXError(.ECONNREFUSED) }
    // Longer than a busy machine stops a server for; only a test that fails waits so long.
    var time = timeval(tv_sec: 45, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Sends bytes, and returns whether the peer still accepts them.
  @discardableResult
  public func send(_ bytes: some Sequence<UInt8>) -> Bool {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Sends text, and returns whether the peer still accepts it.
  @discardableResult
  public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Receives the available bytes, up to a limit; empty if the peer has closed the connection.
  public func receive(_ limit: Int = 65_536) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    var count: Int
    repeat {
      count = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, limit, 0) }
    } while count < 0 && errno == EINTR
    return Array(bytes.prefix(max(0, count)))
  }

  /// Receives everything until the peer closes the connection.
  public func receiveAll() -> String {
    var all: [UInt8] = []
    while true {
      let more = receive()
      if more.isEmpty { return String(decoding: all, as: UTF8.self) }
      all += more
    }
  }

  /// Waits until the peer closes the connection; false if it does not within 45 seconds.
  public func waitUntilClosed() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count == 0 { return true }
      if count < 0, errno != EINTR { return errno == ECONNRESET }
    }
  }

  /// Whether the peer has closed the connection; does not wait.
  public var isClosed: Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || count < 0 && errno == ECONNRESET
  }

  /// Runs a closure with a connection, on a thread of its own.
  public static func run<Result: Sendable>(
    _ port: Int, _ body: @escaping @Sendable (RawConnection) throws -> Result
  ) async throws -> Result {
    try await BlockingThread.run { () throws -> Result in try body(RawConnection(port: port)) }
  }
}
