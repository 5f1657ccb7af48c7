import HTTPTypes
import Synchronization

/// What a server has done, in the text format of Prometheus.
final class ServerMetrics: Sendable {
  private struct Series: Hashable, Comparable {
    var method: String
    var status: Int

    static func < (left: Series, right: Series) -> Bool {
      (left.method, left.status) < (right.method, right.status)
    }
  }

  private struct State {
    var requests: [Series: Int] = [:]
    /// For each upper bound, the number of requests that took at most that long.
    var buckets = Array(repeating: 0, count: ServerMetrics.bounds.count)
    var count = 0
    var seconds = 0.0
  }

  /// The upper bounds of the histogram of times, in seconds.
  private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30]
  private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

  private let state = Mutex(State())

  /// Counts a request: `time` is the time until its answer began.
  func add(_ method: HTTPRequest.Method, status: Int, time: Duration) {
    let seconds = time / .seconds(1)
    // Clients choose the method, so unknown ones share a series.
    let name = Self.methods.contains(method.rawValue) ? method.rawValue : "other"
    state.withLock { state in
      state.requests[Series(method: name, status: status), default: 0] += 1
      for (index, bound) in Self.bounds.enumerated() where seconds <= bound { state.buckets[index] += 1 }
      state.count += 1
      state.seconds += seconds
    }
  }

  /// All metrics, with the current values of those that go up and down.
  func text(connections: Int, waitingReads: Int, answerBytes: Int) -> String {
    let state = state.withLock { $0 }
    var text = Self.head("requests_total", "counter", "Answered requests.")
    for (series, count) in state.requests.sorted(by: { $0.key < $1.key }) {
      text += "persistence_requests_total{method=\"\(series.method)\",status=\"\(series.status)\"} \(count)\n"
    }
    text += Self.head("request_seconds", "histogram", "Time until an answer begins.")
    for (bound, count) in zip(Self.bounds, state.buckets) {
      text += "persistence_request_seconds_bucket{le=\"\(bound)\"} \(count)\n"
    }
    text += "persistence_request_seconds_bucket{le=\"+Inf\"} \(state.count)\n"
    text += "persistence_request_seconds_sum \(state.seconds)\n"
    text += "persistence_request_seconds_count \(state.count)\n"
    text += Self.gauge("connections", connections, "Open connections.")
    text += Self.gauge("waiting_reads", waitingReads, "Reads that wait for others of the same client.")
    return text + Self.gauge("answer_bytes", answerBytes, "Bytes of answers that clients have not received.")
  }

  private static func head(_ name: String, _ kind: String, _ help: String) -> String {
    "# HELP persistence_\(name) \(help)\n# TYPE persistence_\(name) \(kind)\n"
  }

  private static func gauge(_ name: String, _ value: Int, _ help: String) -> String {
    head(name, "gauge", help) + "persistence_\(name) \(value)\n"
  }
}
