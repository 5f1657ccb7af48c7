import Foundation
import PersistenceDriverSupport
import PersistenceServer
import Testing
import ToolProcess

@Suite("Answers that clients read late", .timeLimit(.minutes(1)))
struct SlowClientTests {
  /// More than the system's buffers hold.
  private static let films = (0..<3).map { Film($0, String(repeating: "x", count: 8 << 20)) }
  /// A record and a page, which are sent at once, and lines, which are sent as the client reads them.
  private static let targets: [(path: String, accepted: String)] = [
    ("/models/Film/records/1", "application/json"),
    ("/models/Film/records?limit=2", "application/json"),
    ("/models/Film/records", "application/x-ndjson"),
  ]

  /// The size of the body that a client receives which waits after the first bytes, and whether it is whole.
  private static func body(
    of server: RunningServer, _ target: (path: String, accepted: String), wait: TimeInterval = 0.3,
    whenBegun: @escaping @Sendable () -> Void = {}
  ) async throws -> (size: Int, isWhole: Bool) {
    try await BlockingThread.run {
      let connection = try RawConnection(port: server.port, receiveBuffer: 64 << 10)
      connection.send(
        "GET \(target.path) HTTP/1.1\r\nHost: x\r\nAccept: \(target.accepted)\r\n"
          + "Authorization: Bearer \(RunningServer.readToken)\r\n\r\n")
      let begun = String(decoding: connection.receive(2000), as: UTF8.self)
      whenBegun()
      Thread.sleep(forTimeInterval: wait)
      let all = begun + connection.receiveAll()
      let head = try #require(all.range(of: "\r\n\r\n"))
      let size = all.utf8[head.upperBound...].count
      let fields = all[..<head.lowerBound].lowercased()
      let isWhole =
        fields.contains("transfer-encoding: chunked")
        ? all.hasSuffix("\r\n0\r\n\r\n") : fields.contains("content-length: \(size)")
      return (size, isWhole)
    }
  }

  @Test("a server that stops sends the whole answer", arguments: 0..<3)
  func stopping(target: Int) async throws {
    var limits = ServerLimits()
    limits.pageBytes = 64 << 20
    let server = try await RunningServer.start(try Film.context(Self.films), limits: limits)
    let body = try await Self.body(of: server, Self.targets[target]) { server.askToStop() }
    #expect(body.size > 8 << 20 && body.isWhole, "\(body)")
    try await server.ended()
  }

  @Test("the time for the next head begins when the answer is sent", arguments: 0..<3)
  func headTime(target: Int) async throws {
    var limits = ServerLimits()
    (limits.headTime, limits.pageBytes) = (.milliseconds(300), 64 << 20)
    try await RunningServer.with(try Film.context(Self.films), limits: limits) { server in
      // The server closes the connection after the answer.
      let body = try await Self.body(of: server, Self.targets[target], wait: 1)
      #expect(body.size > 8 << 20 && body.isWhole, "\(body)")
    }
  }

  @Test("a server that stops waits no longer than its limit for a client that does not read")
  func unread() async throws {
    var limits = ServerLimits()
    (limits.shutdownTime, limits.pageBytes) = (.seconds(1), 64 << 20)
    let server = try await RunningServer.start(try Film.context(Self.films), limits: limits)
    let hasEnded = DispatchSemaphore(value: 0)
    async let client: Void = RawConnection.run(server.port) { connection in
      connection.send(
        "GET /models/Film/records?limit=3 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
          + "\(RunningServer.readToken)\r\n\r\n")
      #expect(!connection.receive(100).isEmpty)
      server.askToStop()
      // The connection stays open meanwhile.
      hasEnded.wait()
    }
    try await server.ended()
    hasEnded.signal()
    try await client
  }
}
