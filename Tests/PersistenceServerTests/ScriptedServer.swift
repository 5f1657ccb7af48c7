import Foundation
import PersistenceDriverSupport
import Synchronization

/// A server with scripted answers, valid or not.
///
/// It serves one request per connection.
final class ScriptedServer: Sendable {
  /// A request.
  struct Request: Sendable {
    var method: String
    var path: String
    /// The token in the header Authorization.
    var token: String?

    /// The parameters of the URL.
    var parameters: [String: String] {
      let items = URLComponents(string: "http://x" + path)?.queryItems ?? []
      return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
    }
  }

  /// An answer.
  struct Reply: Sendable {
    var status: Int
    var type: String
    var body: String
    /// Whether the answer has a length.
    var isFramed = true

    /// No answer: the connection ends.
    static let nothing = Reply(status: 0, type: "", body: "")

    static func json(_ body: String, status: Int = 200) -> Reply {
      Reply(status: status, type: "application/json", body: body)
    }

    /// The answer of a proxy.
    static func page(_ status: Int) -> Reply {
      Reply(status: status, type: "text/html", body: "<html>nothing here</html>")
    }

    fileprivate var text: String {
      if status == 0 { return "" }
      return "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nConnection: close\r\n"
        + (isFramed ? "Content-Length: \(body.utf8.count)\r\n" : "") + "\r\n" + body
    }
  }

  let port: Int
  private let descriptor: Int32
  private let seen = Mutex<[Request]>([])

  var url: String { "http://127.0.0.1:\(port)" }

  /// The requests so far.
  var requests: [Request] { seen.withLock(\.self) }

  init(_ answer: @escaping @Sendable (Request) -> Reply) throws {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    port = Int(in_port_t(bigEndian: address.sin_port))
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    BlockingThread("scripted server") { [weak self] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          close(descriptor)
          return
        }
        if let request = Self.read(connection) {
          self?.seen.withLock { $0.append(request) }
          let bytes = Array(answer(request).text.utf8)
          _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
        close(connection)
      }
    }
  }

  /// Ends the thread, which closes the descriptor: another server may get its number at once, and the thread would accept
  /// that server's connections.
  deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Reads a request with its body; nil if there is none.
  private static func read(_ connection: Int32) -> Request? {
    var time = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
          .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        if text[end.upperBound...].utf8.count >= length ?? 0 {
          let parts = lines[0].components(separatedBy: " ")
          let token = lines.first { $0.lowercased().hasPrefix("authorization: bearer ") }
            .map { String($0.dropFirst(22)) }
          return parts.count > 1 ? Request(method: parts[0], path: parts[1], token: token) : nil
        }
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
  }
}
