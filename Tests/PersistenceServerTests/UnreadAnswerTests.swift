import CoreMetrics
import PersistenceServer
import TestSupport
import Testing
import ToolProcess

@Suite("Answers that clients do not read")
struct UnreadAnswerTests {
  /// The size of a chunk, with its last record and its punctuation.
  private static let chunk = 150_000

  @Test(
    "fifty clients that leave pages of eight megabytes unread hold the budget and a chunk each at most",
    .timeLimit(.minutes(1)))
  func budget() async throws {
    let clients = 50
    let text = String(repeating: "x", count: 5000)
    var limits = ServerLimits()
    (limits.pageSize, limits.answerBytes) = (1600, 1 << 20)
    let backend = RecordingMetrics()
    try await withMetricsFactory(backend) {
      try await RunningServer.with(try Film.context((0..<1600).map { Film($0, text) }), limits: limits) {
        server in
        var unread = try (0..<clients).map { _ in
          try RawConnection(port: server.port, receiveBuffer: 64 << 10)
        }
        for connection in unread {
          connection.send(
            "GET /models/Film/records?limit=1600 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
              + "\(RunningServer.readToken)\r\n\r\n")
        }
        try await until {
          backend.value(#"persistence_requests_total{method="GET",status="200"}"#) == Double(clients)
        }
        try await until { backend.peak("persistence_answer_bytes") ?? 0 >= Double(limits.answerBytes) }
        // Nothing moves any more, unless an answer is produced without its client.
        var last = -1.0
        try await until {
          let value = backend.value("persistence_answer_bytes") ?? 0
          defer { last = value }
          try await Task.sleep(for: .milliseconds(200))
          return value == last
        }
        let peak = backend.peak("persistence_answer_bytes") ?? 0
        #expect(peak <= Double(limits.answerBytes + clients * Self.chunk), "\(peak) bytes")
        // Short answers need no budget.
        let other = WireClient(port: server.port, token: RunningServer.writeToken)
        #expect(try await other("GET", "/models/Film/records/1").status == 200)
        #expect(try await other("GET", "/health").status == 204)
        unread.removeAll()
        try await until { backend.value("persistence_answer_bytes") == 0 }
        // The budget is free again.
        #expect(try await other("GET", "/models/Film/records?limit=100").body.utf8.count > 500_000)
      }
    }
  }
}
