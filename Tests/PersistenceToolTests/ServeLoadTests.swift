#if HTTP
  import Foundation
  import PersistenceConformance
  import Testing
  import ToolProcess

  @Suite("serve under load, as a process", .serialized)
  struct ServeLoadTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func answer(_ port: Int, _ path: String) throws -> String {
      let connection = try RawConnection(port: port)
      connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      return connection.receiveAll()
    }

    /// A store with records of a text.
    private func makeStore(_ url: String, _ count: Int, _ size: Int) throws -> String {
      let text = String(repeating: "a", count: size)
      let file = try folder.file(
        "m.ndjson", (0..<count).map { "{\"id\":\($0),\"text\":\"\(text)\"}\n" }.joined())
      let run = ToolHarness()("import", file, url, "--model", "M", "--key", "id")
      try #require(run.code == 0, "\(run)")
      return url
    }

    #if os(Linux)
      /// A process with connections that send nothing: Foundation's processes fail if this one has a thousand files.
      private static func silentConnections(_ count: Int, _ port: Int) throws -> Process {
        let (process, output) = try Process.started { process in
          process.executableURL = URL(fileURLWithPath: "/bin/bash")
          process.arguments = [
            "-c",
            "for ((i = 0; i < \(count); i++)); do exec {file}<>/dev/tcp/127.0.0.1/\(port) || exit 1; done; "
              + "echo ready; read",
          ]
          let output = Pipe()
          (process.standardInput, process.standardOutput) = (Pipe(), output)
          return output
        }
        try #require(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        return process
      }

      @Test(
        "Health checks are answered within two seconds beside a thousand silent connections of one address")
      func silence() throws {
        let (server, port) = try ToolProcess.serving(["memory:", "--without-tokens"])
        let silent = try Self.silentConnections(1000, port)
        // The fastest of three, because this machine may be busy.
        let times = try (0..<3).map { _ in
          let start = ContinuousClock.now
          let health = try answer(port, "/health")
          #expect(health.hasPrefix("HTTP/1.1 204 "), "\(health)")
          return ContinuousClock.now - start
        }
        #expect(times.contains { $0 < .seconds(2) }, "\(times)")
        #expect(silent.isRunning)
        silent.terminate()
        server.send(SIGTERM)
        #expect(try server.ended() == 0)
      }

      /// The resident memory of a process, in bytes.
      private func memory(_ process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return try #require(line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
          * 1024
      }

      @Test("Fifty clients that leave pages of fifteen megabytes unread cost their budget and 64 MB at most")
      func unreadPages() throws {
        let store = try makeStore("sqlite:\(folder("a.db"))", 3000, 5000)
        let budget = 16 << 20
        let (server, port) = try ToolProcess.serving([
          store, "--without-tokens", "--max-page", "3000", "--max-answers", "\(budget)",
        ])
        #expect(try answer(port, "/models/M/records?limit=2999").utf8.count > 14_000_000)
        let before = try memory(server.identifier)
        var unread: [RawConnection] = []
        for _ in 0..<50 {
          // One after the other: the server closes connections whose first byte takes too long.
          let connection = try RawConnection(port: port, receiveBuffer: 64 << 10)
          unread.append(connection)
          connection.send("GET /models/M/records?limit=2999 HTTP/1.1\r\nHost: localhost\r\n\r\n")
          // The answer has begun; the rest stays unread.
          #expect(!connection.receive(16).isEmpty)
        }
        var most = 0
        for _ in 0..<20 {
          most = max(most, try memory(server.identifier))
          Thread.sleep(forTimeInterval: 0.1)
        }
        #expect(most < before + budget + 64 << 20, "\(before) bytes before, \(most) at most")
        #expect(try answer(port, "/models/M/records/1").hasPrefix("HTTP/1.1 200 "))
        unread.removeAll()
        server.send(SIGTERM)
        #expect(try server.ended() == 0)
      }
    #endif

    @Test(
      "SIGTERM during a heavy query ends the process once the time of the query is over",
      arguments: ["sqlite", "lmdb", "json"])
    func heavyQuery(engine: String) throws {
      let store = try makeStore("\(engine):\(folder("heavy"))", 4000, 2000)
      let condition =
        #"{"where":{"any":["#
        + (0..<1990).map {
          #"{"field":"text","contains":"\#(String(repeating: "a", count: 20))b\#($0)","caseInsensitive":true}"#
        }.joined(separator: ",") + "]}}"
      let (server, port) = try ToolProcess.serving([store, "--without-tokens", "--max-seconds", "3"])
      let connection = try RawConnection(port: port)
      connection.send(
        "POST /models/M/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
          + "Content-Length: \(condition.utf8.count)\r\n\r\n\(condition)")
      Thread.sleep(forTimeInterval: 1)
      let start = ContinuousClock.now
      server.send(SIGTERM)
      #expect(try server.ended() == 0, "\(server.messages)")
      let time = ContinuousClock.now - start
      #expect(time < .seconds(10), "\(time)")
      // The query was under way until its time limit.
      #expect(connection.receiveAll().hasPrefix("HTTP/1.1 503 "))
    }
  }
#endif
