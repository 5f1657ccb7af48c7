import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceServer
import Synchronization
import Testing
import ToolProcess

@Suite("Interrupted reads")
struct InterruptionTests {
  private static let request =
    "GET /models/Film/count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "
    + "\(RunningServer.readToken)\r\n\r\n"

  /// Limits whose time for a request never passes.
  private static var patient: ServerLimits {
    var limits = ServerLimits()
    limits.requestTime = .seconds(3600)
    return limits
  }

  @Test("a read ends at the time limit, and its thread serves the next request", .timeLimit(.minutes(1)))
  func timeLimit() async throws {
    var limits = ServerLimits()
    limits.requestTime = .milliseconds(200)
    limits.readingThreads = 1
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await RunningServer.with(endless, limits: limits) { server in
      let client = WireClient(port: server.port)
      let late = try await client("GET", "/models/Film/count")
      #expect(late.status == 503 && late.code == "timedOut")
      try await endless.waitUntilRunning(0)
      #expect(try await client("GET", "/models/Film/records/1").status == 200)
    }
  }

  @Test("a read ends when its client disconnects", .timeLimit(.minutes(1)))
  func disconnected() async throws {
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await RunningServer.with(endless, limits: Self.patient) { server in
      var connection: RawConnection? = try RawConnection(port: server.port)
      connection?.send(Self.request)
      try await endless.waitUntilRunning(1)
      connection = nil
      try await endless.waitUntilRunning(0)
      #expect(try await WireClient(port: server.port)("GET", "/models/Film/records/1").status == 200)
    }
  }

  @Test("a waiting read of a client that disconnects never runs", .timeLimit(.minutes(1)))
  func disconnectedInQueue() async throws {
    var limits = Self.patient
    limits.readsPerClient = 1
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await RunningServer.with(endless, limits: limits) { server in
      var first: RawConnection? = try RawConnection(port: server.port)
      first?.send(Self.request)
      try await endless.waitUntilRunning(1)
      var second: RawConnection? = try RawConnection(port: server.port)
      second?.send(Self.request)
      let metrics = WireClient(port: server.port)
      try await Self.waits(metrics, for: "persistence_waiting_reads 1")
      second = nil
      try await Self.waits(metrics, for: "persistence_waiting_reads 0")
      #expect(endless.running.load(ordering: .sequentiallyConsistent) == 1)
      first = nil
      try await endless.waitUntilRunning(0)
    }
  }

  private static func waits(_ client: WireClient, for line: String) async throws {
    for _ in 0..<10_000 {
      if try await client("GET", "/metrics").body.contains(line + "\n") { return }
    }
    Issue.record("“\(line)” never appeared")
  }

  @Test("one client cannot use all threads: another one is answered meanwhile", .timeLimit(.minutes(1)))
  func fairness() async throws {
    var limits = Self.patient
    limits.readingThreads = 2
    limits.readsPerClient = 1
    let endless = EndlessContext(try Film.context([Film(1)]))
    try await RunningServer.with(endless, limits: limits) { server in
      var greedy: [RawConnection] = []
      for _ in 0..<5 {
        let connection = try RawConnection(port: server.port)
        connection.send(Self.request)
        greedy.append(connection)
      }
      let other = WireClient(port: server.port, token: RunningServer.writeToken)
      try await Self.waits(other, for: "persistence_waiting_reads 4")
      #expect(endless.running.load(ordering: .sequentiallyConsistent) == 1)
      #expect(try await other("GET", "/models/Film/records/1").status == 200)
      #expect(try await other("GET", "/ready").status == 204)
      greedy.removeAll()
      try await endless.waitUntilRunning(0)
    }
  }

  @Test("a stopped server interrupts the reads whose time has passed", .timeLimit(.minutes(1)))
  func stopped() async throws {
    var limits = Self.patient
    limits.shutdownTime = .milliseconds(200)
    let endless = EndlessContext(try Film.context([Film(1)]))
    let server = try await RunningServer.start(endless, limits: limits)
    let connection = try RawConnection(port: server.port)
    connection.send(Self.request)
    try await endless.waitUntilRunning(1)
    server.askToStop()
    try? await server.ended()
    #expect(endless.running.load(ordering: .sequentiallyConsistent) == 0)
    withExtendedLifetime(connection) {}
  }

  @Test("a stopped server does not wait for a context that ignores interruptions", .timeLimit(.minutes(1)))
  func stuck() async throws {
    var limits = Self.patient
    limits.shutdownTime = .milliseconds(200)
    let counting = CountingContext(try Film.context([Film(1)]))
    let gate = DispatchSemaphore(value: 0)
    counting.gate.withLock { $0 = gate }
    let server = try await RunningServer.start(counting, limits: limits)
    let connection = try RawConnection(port: server.port)
    connection.send(Self.request.replacing("/count", with: "/records"))
    while counting.waiting.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    server.askToStop()
    await #expect(throws: (any Error).self) { try await server.ended() }
    gate.signal()
    withExtendedLifetime(connection) {}
  }
}
