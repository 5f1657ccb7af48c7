#if HTTP
  import CoreMetrics
  import HTTPTypes
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// What a server has done, for `/metrics` and for the metrics backend of the process, under the same names.
  ///
  /// Every value changes in one place, which tells both.
  final class ServerMetrics: Sendable {
    private struct Series: Hashable, Comparable {
      var method: String
      var status: Int

      static func < (left: Series, right: Series) -> Bool {
        (left.method, left.status) < (right.method, right.status)
      }
    }

    private struct State {
      var requests: [Series: ServerCounter] = [:]
      var errors: [String: ServerCounter] = [:]
      /// For each upper bound, the number of requests that took at most that long.
      var buckets = Array(repeating: 0, count: ServerMetrics.bounds.count)
      var count = 0
      var seconds = 0.0
    }

    /// The upper bounds of the histogram of times, in seconds.
    private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30]
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    private static let prefix = "persistence_"

    let connections: ServerGauge
    let waitingReads: ServerGauge
    let answerBytes: ServerGauge
    private let factory: any MetricsFactory
    private let times: Timer
    /// Each answer passes this lock.
    private let state = Lock(State())

    /// Creates metrics that report to the backend that the process has bootstrapped, if any.
    init() {
      let factory = MetricsSystem.factory
      self.factory = factory
      func gauge(_ name: String) -> ServerGauge {
        ServerGauge(Meter(label: Self.prefix + name, factory: factory))
      }
      connections = gauge("connections")
      waitingReads = gauge("waiting_reads")
      answerBytes = gauge("answer_bytes")
      times = Timer(label: Self.prefix + "request_seconds", factory: factory)
    }

    /// Counts a request: `time` is the time until its answer began, and `error` the code of a problem.
    func add(_ method: HTTPRequest.Method, status: Int, error: PersistenceError.Code?, time: Duration) {
      let seconds = time / .seconds(1)
      // Clients choose the method, so unknown ones share a series.
      let name = Self.methods.contains(method.rawValue) ? method.rawValue : "other"
      times.recordNanoseconds(Int64(time / .nanoseconds(1)))
      state.withLock { state in
        state.requests[Series(method: name, status: status), default: requestCounter(name, status)].add()
        for (index, bound) in Self.bounds.enumerated() where seconds <= bound { state.buckets[index] += 1 }
        state.count += 1
        state.seconds += seconds
      }
      if let error { add(error) }
    }

    /// Counts an error.
    func add(_ error: PersistenceError.Code) {
      state.withLock { state in
        state.errors[error.rawValue, default: counter("errors_total", [("code", error.rawValue)])].add()
      }
    }

    private func requestCounter(_ method: String, _ status: Int) -> ServerCounter {
      counter("requests_total", [("method", method), ("status", "\(status)")])
    }

    private func counter(_ name: String, _ dimensions: [(String, String)]) -> ServerCounter {
      ServerCounter(Counter(label: Self.prefix + name, dimensions: dimensions, factory: factory))
    }

    /// All metrics in the text format of Prometheus.
    var text: String {
      let state = state.withLock { $0 }
      var text = Self.head("requests_total", "counter", "Answered requests.")
      for (series, counter) in state.requests.sorted(by: { $0.key < $1.key }) {
        text +=
          "persistence_requests_total{method=\"\(series.method)\",status=\"\(series.status)\"} \(counter.count)\n"
      }
      text += Self.head("errors_total", "counter", "Errors, by their codes.")
      for (code, counter) in state.errors.sorted(by: { $0.key < $1.key }) {
        text += "persistence_errors_total{code=\"\(code)\"} \(counter.count)\n"
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
      return text
        + Self.gauge("answer_bytes", answerBytes, "Bytes of answers that clients have not received.")
    }

    private static func head(_ name: String, _ kind: String, _ help: String) -> String {
      "# HELP \(prefix)\(name) \(help)\n# TYPE \(prefix)\(name) \(kind)\n"
    }

    private static func gauge(_ name: String, _ gauge: ServerGauge, _ help: String) -> String {
      head(name, "gauge", help) + "\(prefix)\(name) \(gauge.value)\n"
    }
  }

  /// A number that only grows.
  private struct ServerCounter: Sendable {
    private(set) var count = 0
    private let counter: Counter

    init(_ counter: Counter) { self.counter = counter }

    mutating func add() {
      count += 1
      counter.increment()
    }
  }

  /// A number that goes up and down.
  final class ServerGauge: Sendable {
    private let number = Atomic(0)
    private let meter: Meter

    /// Creates a gauge that reports to a meter.
    init(_ meter: Meter) { self.meter = meter }

    /// Creates a gauge that reports to nobody.
    convenience init() { self.init(Meter(label: "", factory: NOOPMetricsHandler.instance)) }

    var value: Int { number.load(ordering: .relaxed) }

    /// Adds a change, not the sum, so that the order of concurrent reports is irrelevant.
    func add(_ change: Int) {
      number.add(change, ordering: .relaxed)
      if change > 0 { meter.increment(by: Double(change)) }
      if change < 0 { meter.decrement(by: Double(-change)) }
    }
  }
#endif
