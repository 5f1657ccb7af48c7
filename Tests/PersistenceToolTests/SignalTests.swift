import Foundation
import Testing
import ToolProcess

@Suite("Signals to the tool's process", .serialized)
struct SignalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("SIGINT stops a migration with code 130 and prints the command that completes it")
  func migrate() throws {
    let tool = ToolHarness()
    let records = (0..<30_000).map { "{\"id\":\($0),\"t\":\"\(String(repeating: "x", count: 100))\"}\n" }
    let file = try folder.file("m.ndjson", records.joined())
    let (source, destination) = ("sqlite:\(folder("a.db"))", "sqlite:\(folder("b.db"))")
    #expect(tool("import", file, source, "--model", "M", "--key", "id").code == 0)
    // Many transactions, so that the run is far from its end when it reports progress.
    let arguments = ["migrate", source, destination, "--batch", "1"]
    let process = try ToolProcess(arguments + ["--progress", "json"])
    try process.waits(for: "\"phase\":\"copying\"")
    process.send(SIGINT)
    #expect(try process.ended() == 130, "\(process.messages)")
    #expect(process.output.isEmpty)
    let words = "persistence migrate \(source) \(destination) --batch 1 --resume"
    #expect(process.messages.hasSuffix("to continue, run:\n  \(words)\n"), "\(process.messages)")
    #expect(tool("verify", source, destination).code == 4, "the copy is marked incomplete")
    let resumed = try ToolProcess(["migrate", source, destination, "--resume"])
    #expect(try resumed.ended() == 0, "\(resumed.messages)")
    #expect(resumed.output.contains("resumed an earlier run"), "\(resumed.output)")
    #expect(tool("verify", source, destination).code == 0)
  }

  #if HTTP
    @Test(
      "SIGTERM ends serve once the request under way is answered, with code 0", arguments: [SIGTERM, SIGINT])
    func serve(signal: Int32) throws {
      // More than all buffers hold, so that the response stays in flight until the client reads it; but not so much that a
      // busy machine needs longer for it than a shutdown may take.
      let (count, size) = (20, 1 << 20)
      let line = String(repeating: "x", count: size)
      let file = try folder.file(
        "m.ndjson", (0..<count).map { "{\"id\":\($0),\"t\":\"\(line)\"}\n" }.joined())
      let store = "sqlite:\(folder("a.db"))"
      #expect(ToolHarness()("import", file, store, "--model", "M", "--key", "id").code == 0)
      let (server, port) = try ToolProcess.serving([store, "--without-tokens"])
      let connection = try RawConnection(port: port)
      connection.send(
        "GET /models/M/records HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n"
          + "Connection: close\r\n\r\n")
      let begun = connection.receive(100)
      server.send(signal)
      let received = String(decoding: begun, as: UTF8.self) + connection.receiveAll()
      #expect(received.hasPrefix("HTTP/1.1 200 "))
      #expect(received.hasSuffix("\r\n0\r\n\r\n"), "the answer is whole")
      #expect(received.utf8.count > count * size)
      #expect(try server.ended() == 0, "\(server.messages)")
      #expect(server.messages.hasSuffix("stopped\n"))
    }

    @Test("A failed log write does not stop the server")
    func unwritableLog() throws {
      let unwritable = try #require(FileHandle(forReadingAtPath: "/dev/null"))
      let server = try ToolProcess(
        ["serve", "memory:", "--without-tokens", "--verbose", "--listen", "127.0.0.1:0"],
        messages: unwritable)
      // The log write fails silently; the message with the address fails the command without a crash.
      #expect(try server.ended() == 4)
    }

    @Test("A server with closed standard error continues and stops cleanly")
    func brokenMessages() throws {
      let pipe = Pipe()
      let port = Int.random(in: 10_000..<32_000)
      let server = try ToolProcess(
        ["serve", "memory:", "--without-tokens", "--verbose", "--listen", "127.0.0.1:\(port)"],
        messages: pipe.fileHandleForWriting)
      try pipe.fileHandleForWriting.close()
      var said = ""
      while !said.contains("serving ") {
        let data = pipe.fileHandleForReading.availableData
        try #require(!data.isEmpty, "\(said)")
        said += String(decoding: data, as: UTF8.self)
      }
      try pipe.fileHandleForReading.close()
      let connection = try RawConnection(port: port)
      connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let health = connection.receiveAll()
      #expect(health.hasPrefix("HTTP/1.1 204 "))
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }
  #endif
}
