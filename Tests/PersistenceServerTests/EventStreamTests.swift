import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceServer
import TestSupport
import Testing
import ToolProcess

/// A client of server-sent events, which reads them when it is asked.
private final class EventClient {
  let connection: RawConnection
  private var bytes: [UInt8] = []

  var text: String { String(decoding: bytes, as: UTF8.self) }

  init(
    _ port: Int, _ parameters: String = "", token: String = RunningServer.readToken, headers: [String] = []
  )
    throws
  {
    connection = try RawConnection(port: port)
    connection.send(
      "GET /models/Film/events\(parameters) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
        + headers.map { $0 + "\r\n" }.joined() + "\r\n")
  }

  /// How many bytes have come.
  var count: Int { bytes.count }

  /// Reads until one of some texts has come after a position; false if the server closes the connection before, or sends
  /// nothing.
  func waits(for parts: String..., after position: Int = 0) -> Bool {
    // Only the new bytes are searched, and the end of the earlier ones.
    var start = position
    while true {
      let tail = String(decoding: bytes[start...], as: UTF8.self)
      if parts.contains(where: tail.contains) { return true }
      start = max(position, bytes.count - 100)
      let more = connection.receive()
      if more.isEmpty { return false }
      bytes += more
    }
  }

  /// The ids of the films in all events.
  var films: Set<Int> {
    Set(text.components(separatedBy: #""id":"#).dropFirst().compactMap { Int($0.prefix { $0.isNumber }) })
  }

  /// The checkpoint of the last complete event.
  var lastID: String? {
    text.components(separatedBy: "id: ").dropFirst().last?.split(separator: "\n").first.map(String.init)
  }
}

@Suite("Server-sent events")
struct EventStreamTests {
  /// The last chunk of a complete answer.
  private static let end = "\r\n0\r\n\r\n"

  /// Runs a body that blocks on a thread of its own.
  private func blocking<Result: Sendable>(
    _ server: RunningServer, _ body: @escaping @Sendable (Int) throws -> Result
  ) async throws -> Result {
    let port = server.port
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result { try body(port) }) }
    }
  }

  @Test(
    "D1: a commit reaches a client as an event, and one that comes back with its last id gets what it missed",
    .timeLimit(.minutes(1)), arguments: ContextUnderTest.ours)
  func resuming(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(contentsOf: [Film(1)])
    try await RunningServer.with(storage) { server in
      try await blocking(server) { port in
        let first = try EventClient(port)
        try #require(first.waits(for: "event: changes"))
        #expect(first.text.contains("200 OK") && first.text.contains("text/event-stream"))
        try repository.save(Film(2, "second"))
        try #require(first.waits(for: "second"))
        try #require(first.waits(for: "\n\n"))
        let id = try #require(first.lastID)
        try repository.save(Film(3, "third"))
        try repository.delete(Film(1))
        let again = try EventClient(port, headers: ["Last-Event-ID: \(id)"])
        try #require(again.waits(for: "third") && again.waits(for: #""deleted":[{"id":1}]"#))
        #expect(!again.text.contains("second"))
        // The header is newer than the parameter of the URL, which browsers repeat.
        let browser = try EventClient(
          port, "?since=\(try #require(again.lastID))", headers: ["Last-Event-ID: \(id)"])
        #expect(browser.waits(for: "third"))
      }
    }
  }

  @Test("a client without changes gets heartbeats", .timeLimit(.minutes(1)))
  func heartbeats() async throws {
    var limits = ServerLimits()
    limits.heartbeatTime = .milliseconds(5)
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits) { server in
      try await blocking(server) { port in
        let client = try EventClient(port)
        #expect(client.waits(for: "event: changes") && client.waits(for: "\n:\n\n"))
      }
    }
  }

  @Test("a revoked token ends its streams, and no others", .timeLimit(.minutes(1)))
  func revoked() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      try await blocking(server) { port in
        let reader = try EventClient(port)
        let writer = try EventClient(port, token: RunningServer.writeToken)
        try #require(reader.waits(for: "event: changes") && writer.waits(for: "event: changes"))
        try server.server.replaceTokens(AccessTokens(write: [RunningServer.writeToken]))
        // The last chunk is complete.
        #expect(reader.waits(for: Self.end))
        try Film.insert([Film(2, "second")], in: context)
        #expect(writer.waits(for: "second"))
      }
    }
  }

  @Test("streams end when the server stops, long before its time for stopping", .timeLimit(.minutes(1)))
  func stopping() async throws {
    var limits = ServerLimits()
    limits.shutdownTime = .seconds(3600)
    let server = try await RunningServer.start(try Film.context([Film(1)]), limits: limits)
    try await blocking(server) { port in
      let client = try EventClient(port)
      try #require(client.waits(for: "event: changes"))
      server.askToStop()
      #expect(client.waits(for: Self.end))
    }
    try await server.ended()
  }

  @Test("streams beyond the limits are refused, and those that end make room", .timeLimit(.minutes(1)))
  func limits() async throws {
    var limits = ServerLimits()
    limits.eventStreamsPerPeer = 1
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits) { server in
      try await blocking(server) { port in
        let first = try EventClient(port)
        try #require(first.waits(for: "event: changes"))
        let second = try EventClient(port)
        #expect(second.waits(for: "503") && second.waits(for: "busy"))
      }
      // Others are served meanwhile, and the streams have ended with their clients.
      try await until {
        try await blocking(server) { port in
          let client = try EventClient(port)
          return client.waits(for: "event: changes", "503") && !client.text.contains("503")
        }
      }
    }
  }

  @Test("a client that does not read gets each record or a reset when it does", .timeLimit(.minutes(1)))
  func slow() async throws {
    var limits = ServerLimits()
    limits.rememberedChanges = 2
    let context = try Film.context([])
    try await RunningServer.with(context, limits: limits) { server in
      try await blocking(server) { port in
        let client = try EventClient(port)
        try #require(client.waits(for: "event: changes"))
        let long = String(repeating: "x", count: 512 << 10)
        for id in 0..<24 { try Film.insert([Film(id, long)], in: context) }
        try Film.insert([Film(99, "the last")], in: context)
        #expect(client.waits(for: "the last", "event: reset"))
        let isReset = client.text.contains("event: reset")
        #expect(isReset || client.films.isSuperset(of: 0..<24))
        // Either way, the stream goes on. While the client reads what was sent before, a reset may stand for a change.
        var hasCome = false
        for id in 100..<140 where !hasCome {
          let (position, title) = (max(0, client.count - 20), "afterwards \(id)")
          try Film.insert([Film(id, title)], in: context)
          try #require(client.waits(for: title, "event: reset", after: position))
          hasCome = client.text.contains(title)
        }
        #expect(hasCome)
      }
    }
  }

  @Test("a closed store ends the streams", .timeLimit(.minutes(1)))
  func closed() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      try await blocking(server) { port in
        let client = try EventClient(port)
        try #require(client.waits(for: "event: changes"))
        try context.close()
        #expect(client.connection.waitUntilClosed())
      }
    }
  }
}
