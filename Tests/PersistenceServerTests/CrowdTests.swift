import Foundation
import PersistenceServer
import Synchronization
import Testing
import ToolProcess

@Suite("Many connections")
struct CrowdTests {
  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.connections = 4
    limits.connectionsPerPeer = 4
    limits.requestTime = .seconds(3600)
    // Only a new connection closes a silent one.
    (limits.firstByteTime, limits.headTime) = (.seconds(3600), .seconds(3600))
    return limits
  }

  @Test("connections without a request give way to new ones", .timeLimit(.minutes(1)))
  func silent() async throws {
    try await RunningServer.with(try Film.context([Film(1)]), limits: Self.limits) { server in
      let silent = try (0..<12).map { _ in try RawConnection(port: server.port) }
      for _ in 0..<5 {
        #expect(try await WireClient(port: server.port)("GET", "/models/Film/records/1").status == 200)
        #expect(try await WireClient(port: server.port, token: nil)("GET", "/health").status == 204)
      }
      withExtendedLifetime(silent) {}
    }
  }

  @Test(
    "beyond the limit, requests in flight are kept: a new connection gets the health check only",
    .timeLimit(.minutes(1)))
  func busy() async throws {
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await RunningServer.with(endless, limits: Self.limits) { server in
      var busy: [RawConnection] = []
      for number in 1...4 {
        let connection = try RawConnection(port: server.port)
        connection.send(
          "GET /models/Film/count HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningServer.readToken)\r\n\r\n"
        )
        busy.append(connection)
        try await endless.waitUntilRunning(number)
      }
      let refused = try await WireClient(port: server.port)("GET", "/models/Film/records/1")
      #expect(refused.status == 503 && refused.code == "busy")
      #expect(try await WireClient(port: server.port, token: nil)("GET", "/health").status == 204)
      #expect(endless.running.load(ordering: .sequentiallyConsistent) == 4)
      busy.removeLast()
      try await endless.waitUntilRunning(3)
      while try await WireClient(port: server.port)("GET", "/models/Film/records/1").status != 200 {}
      busy.removeAll()
      try await endless.waitUntilRunning(0)
    }
  }
}
