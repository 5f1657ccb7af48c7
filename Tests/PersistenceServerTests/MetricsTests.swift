import CoreMetrics
import Foundation
import PersistenceServer
import Synchronization
import TestSupport
import Testing
import ToolProcess

@Suite("Metrics of swift-metrics")
struct MetricsTests {
  @Test("a backend gets the same numbers as /metrics, under the same names", .timeLimit(.minutes(1)))
  func agreement() async throws {
    let backend = RecordingMetrics()
    try await withMetricsFactory(backend) {
      try await RunningServer.with(try Film.context([Film(1)])) { server in
        let client = WireClient(port: server.port)
        _ = try await client("GET", "/models/Film/records/1")
        _ = try await client("GET", "/models/Film/records/2")
        _ = try await client("REPORT", "/models")
        _ = try await client("POST", "/models/Film/records", "{")
        _ = try await WireClient(port: server.port, token: nil)("GET", "/models")
        let text =
          try await client("HEAD", "/metrics").status == 200
          ? try await client("GET", "/metrics").body : ""
        let shown = Self.numbers(in: text)
        for name in [
          #"persistence_requests_total{method="GET",status="404"}"#,
          #"persistence_requests_total{method="other",status="405"}"#,
          #"persistence_requests_total{method="POST",status="400"}"#,
          #"persistence_errors_total{code="notFound"}"#, #"persistence_errors_total{code="unauthorized"}"#,
          #"persistence_errors_total{code="invalidRequest"}"#,
        ] {
          #expect(shown[name] == 1, "\(name) in \(text)")
          #expect(backend.value(name) == 1, "\(name)")
        }
        // The page does not count the request for itself, which the backend does.
        let own = #"persistence_requests_total{method="GET",status="200"}"#
        for (name, number) in shown where name.hasPrefix("persistence_requests") {
          try await until { backend.value(name) == number + (name == own ? 1 : 0) }
        }
        for (name, number) in shown where name.hasPrefix("persistence_errors") {
          #expect(backend.value(name) == number, "\(name)")
        }
        let answered = try #require(shown["persistence_request_seconds_count"])
        try await until { backend.value("persistence_request_seconds") == answered + 1 }
      }
    }
    try await until { backend.value("persistence_connections") == 0 }
    #expect(backend.value("persistence_answer_bytes") == 0)
  }

  @Test("a backend sees reads that wait, and those that go on", .timeLimit(.minutes(1)))
  func waiting() async throws {
    let backend = RecordingMetrics()
    var limits = ServerLimits()
    limits.requestTime = .seconds(3600)
    limits.readsPerClient = 1
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await withMetricsFactory(backend) {
      try await RunningServer.with(endless, limits: limits) { server in
        var connections: [RawConnection] = []
        for _ in 0..<3 {
          let connection = try RawConnection(port: server.port)
          connection.send(
            "GET /models/Film/count HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningServer.readToken)\r\n\r\n"
          )
          connections.append(connection)
        }
        try await until { backend.value("persistence_waiting_reads") == 2 }
        #expect(backend.value("persistence_connections") == 3)
        connections.removeAll()
        try await until { backend.value("persistence_waiting_reads") == 0 }
        try await endless.waitUntilRunning(0)
      }
    }
  }

  /// The lines of the text format.
  private static func numbers(in text: String) -> [String: Double] {
    var numbers: [String: Double] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      if parts.count == 2 { numbers[String(parts[0])] = Double(parts[1]) }
    }
    return numbers
  }
}

/// A metrics backend that adds up what it is told: increments of counters and meters, and the number of times.
final class RecordingMetrics: MetricsFactory {
  private final class Sum: CounterHandler, MeterHandler, TimerHandler, RecorderHandler {
    private let sum = Mutex((value: 0.0, peak: 0.0))
    var value: Double { sum.withLock(\.value) }
    var peak: Double { sum.withLock(\.peak) }
    private func add(_ value: Double) {
      sum.withLock { sum in
        sum.value += value
        sum.peak = max(sum.peak, sum.value)
      }
    }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func recordNanoseconds(_ duration: Int64) { add(duration >= 0 ? 1 : .nan) }
    func record(_ value: Int64) { add(.nan) }
    func record(_ value: Double) { add(.nan) }
    func set(_ value: Int64) { add(.nan) }
    func set(_ value: Double) { add(.nan) }
    func reset() { sum.withLock { $0 = (0, 0) } }
  }

  private let sums = Mutex<[String: Sum]>([:])

  /// The value of a metric, named with its dimensions as in the text format; nil if it does not exist.
  func value(_ name: String) -> Double? { sums.withLock { $0[name] }?.value }

  /// The highest value that a metric has had; nil if it does not exist.
  func peak(_ name: String) -> Double? { sums.withLock { $0[name] }?.peak }

  private func sum(_ label: String, _ dimensions: [(String, String)]) -> Sum {
    let list = dimensions.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
    return sums.withLock { sums in
      let sum = sums[label + (list.isEmpty ? "" : "{\(list)}")] ?? Sum()
      sums[label + (list.isEmpty ? "" : "{\(list)}")] = sum
      return sum
    }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    sum(label, dimensions)
  }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { sum(label, dimensions) }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { sum(label, dimensions) }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    sum(label, dimensions)
  }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
}
