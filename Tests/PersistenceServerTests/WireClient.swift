import Foundation
import PersistenceDriver
import ToolProcess
import PersistencePrimitives

/// A client that sends any request, one per connection.
struct WireClient: Sendable {
  struct Reply: Sendable {
    let status: Int
    let headers: [String: String]
    let body: String

    var json: JSONValue? { try? JSONParser.parse(body) }
    var code: String? {
      if case .string(let code)? = json?.member("code") { code } else { nil }
    }
  }

  let port: Int
  var token: String? = RunningServer.writeToken

  func callAsFunction(
    _ method: String, _ path: String, _ body: String? = nil, headers: [String] = [],
    type: String = "application/json"
  ) async throws -> Reply {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if let token { text += "Authorization: Bearer \(token)\r\n" }
    for header in headers { text += header + "\r\n" }
    if let body { text += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n" }
    return try await raw(text + "\r\n" + (body ?? ""))
  }

  /// Sends text and reads until the server closes the connection.
  func raw(_ text: String) async throws -> Reply {
    try await RawConnection.run(port) { connection in
      connection.send(text)
      return Self.parse(connection.receiveAll())
    }
  }

  static func parse(_ text: String) -> Reply {
    guard let end = text.range(of: "\r\n\r\n") else { return Reply(status: 0, headers: [:], body: text) }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    var body = String(text[end.upperBound...])
    if headers["transfer-encoding"] == "chunked" { body = unchunked(body) }
    return Reply(
      status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, headers: headers,
      body: body)
  }

  private static func unchunked(_ text: String) -> String {
    var (rest, all) = (Array(text.utf8)[...], [UInt8]())
    while let end = rest.firstIndex(of: 10) {
      let size = Int(
        String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines),
        radix: 16)
      guard let size, size > 0 else { break }
      let chunk = rest[(end + 1)...].prefix(size)
      all += chunk
      rest = rest[(end + 1)...].dropFirst(size + 2)
    }
    return String(decoding: all, as: UTF8.self)
  }
}
