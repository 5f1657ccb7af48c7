import Foundation
import PersistenceDriverSupport
import PersistenceServer
import Synchronization
import TestSupport
import Testing
import ToolProcess

@Suite("Many connections")
struct CrowdTests {
  /// The limits of all connections; with the larger ones, only that of one address can refuse.
  static let limitsOfAll = [4, 100, Int.max]

  private static func limits(_ connections: Int) -> ServerLimits {
    var limits = ServerLimits()
    limits.connections = connections
    limits.connectionsPerPeer = 4
    limits.requestTime = .seconds(3600)
    // Only a new connection closes a silent one.
    (limits.firstByteTime, limits.headTime) = (.seconds(3600), .seconds(3600))
    return limits
  }

  @Test("connections without a request give way to new ones", .timeLimit(.minutes(1)), arguments: limitsOfAll)
  func silent(connections: Int) async throws {
    let limits = Self.limits(connections)
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits) { server in
      let silent = try (0..<12).map { _ in try RawConnection(port: server.port) }
      // Connections are counted in any order. One that is counted after a client's would close that one.
      try await until { silent.count(where: \.isClosed) == 8 }
      for _ in 0..<5 {
        #expect(try await WireClient(port: server.port)("GET", "/models/Film/records/1").status == 200)
        #expect(try await WireClient(port: server.port, token: nil)("GET", "/health").status == 204)
      }
      withExtendedLifetime(silent) {}
    }
  }

  @Test(
    "beyond the limit, requests in flight are kept: a new connection gets the health check only",
    .timeLimit(.minutes(1)), arguments: limitsOfAll)
  func busy(connections: Int) async throws {
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await RunningServer.with(endless, limits: Self.limits(connections)) { server in
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

  #if os(Linux)
    @Test("an address that has reached its limit keeps no other address out", .timeLimit(.minutes(1)))
    func otherPeer() async throws {
      let endless = EndlessContext(try Film.context([Film(1)]))
      try await RunningServer.with(endless, limits: Self.limits(100)) { server in
        let busy = try (0..<4).map { _ in try RawConnection(port: server.port) }
        for connection in busy {
          connection.send(
            "GET /models/Film/count HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningServer.readToken)\r\n\r\n"
          )
        }
        try await endless.waitUntilRunning(4)
        #expect(try await WireClient(port: server.port)("GET", "/models/Film/records/1").status == 503)
        // Linux routes all of 127/8 to this machine.
        let port = server.port
        let answer = try await BlockingThread.run { () throws -> String in
          let connection = try RawConnection(port: port, from: "127.0.0.2")
          connection.send(
            "GET /models/Film/records/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "
              + "\(RunningServer.writeToken)\r\n\r\n")
          return connection.receiveAll()
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        withExtendedLifetime(busy) {}
      }
    }
  #endif
}
