import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import Synchronization
import TestSupport
import Testing

@Suite("Token providers")
struct TokenProviderTests {
  private typealias Reply = ScriptedServer.Reply
  private struct SignedOut: Error {}

  private static let film = #"{"budget":null,"day":null,"id":1,"title":"kept"}"#

  /// A server that accepts one token.
  private static func server(accepting token: String) throws -> ScriptedServer {
    try ScriptedServer { request in
      guard request.token == token else { return .page(401) }
      return request.path.contains("/query")
        ? Reply(status: 200, type: "application/x-ndjson", body: film + "\n") : .json(film)
    }
  }

  /// The calls of a provider, each with the token that the server has rejected.
  private final class Calls: Sendable {
    private let calls = Mutex<[String?]>([])
    var all: [String?] { calls.withLock(\.self) }
    func add(_ rejected: RemoteToken?) { calls.withLock { $0.append(rejected?.text) } }
  }

  @Test(
    "concurrent requests whose token is rejected share one call of the provider, and are sent once more",
    .timeLimit(.minutes(1)), arguments: [false, true])
  func shared(isThirdParty: Bool) async throws {
    let server = try Self.server(accepting: "new")
    let calls = Calls()
    let remote = try RemoteServer(server.url, mapping: isThirdParty ? RemoteMapping() : nil) { rejected in
      calls.add(rejected)
      guard rejected != nil else { return RemoteToken("old") }
      // All requests are rejected before another token arrives.
      try await until { server.requests.count == 8 }
      return RemoteToken("new")
    }
    let films = remote.dataSource(of: Film.self)
    try await withThrowingTaskGroup(of: Film?.self) { group in
      for _ in 0..<8 { group.addTask { try await films.find(1) } }
      for try await film in group { #expect(film == Film(1, "kept")) }
    }
    #expect(calls.all == [nil, "old"])
    #expect(server.requests.count { $0.token == "old" } == 8)
    #expect(server.requests.count == 16)
  }

  @Test("a streamed answer has a new token too, and later requests use it")
  func streamed() async throws {
    let server = try Self.server(accepting: "new")
    let calls = Calls()
    let films = try RemoteServer(server.url) { rejected in
      calls.add(rejected)
      return RemoteToken(rejected == nil ? "old" : "new")
    }.dataSource(of: Film.self)
    #expect(try await films.execute(FetchOptions()) == [Film(1, "kept")])
    #expect(try await films.find(1) == Film(1, "kept"))
    #expect(server.requests.map(\.token) == ["old", "new", "new"])
    #expect(calls.all == [nil, "old"])
  }

  @Test("a second rejection is the request's error, and the same token is not sent again")
  func rejectedTwice() async throws {
    for (tokens, sent) in [(["a", "b", "c"], ["a", "b"]), (["a", "a", "a"], ["a"])] {
      let server = try Self.server(accepting: "none of them")
      let calls = Calls()
      let films = try RemoteServer(server.url) { rejected in
        calls.add(rejected)
        return RemoteToken(tokens[calls.all.count - 1])
      }.dataSource(of: Film.self)
      let error = await #expect(throws: PersistenceError.self) { try await films.save(Film(1)) }
      #expect(error?.code == .unauthorized)
      #expect(server.requests.map(\.token) == sent)
      #expect(calls.all == [nil, "a"])
    }
  }

  @Test("a token is asked for again when it expires, and not before")
  func expiring() async throws {
    for (expiration, count) in [(Date.distantPast, 3), (Date(timeIntervalSinceNow: 3600), 1), (nil, 1)] {
      let server = try ScriptedServer { _ in .json(Self.film) }
      let calls = Calls()
      let films = try RemoteServer(server.url) { rejected in
        calls.add(rejected)
        return RemoteToken("token-\(calls.all.count)", expires: expiration)
      }.dataSource(of: Film.self)
      for _ in 0..<3 { _ = try await films.find(1) }
      #expect(calls.all == Array(repeating: nil, count: count))
      #expect(Set(server.requests.map(\.token)).count == count)
    }
  }

  @Test("a provider that fails is unauthorized, sends nothing, and is asked again by the next request")
  func failing() async throws {
    let server = try Self.server(accepting: "good")
    let failures: [(any Error, PersistenceError.Code)] = [
      (SignedOut(), .unauthorized), (CancellationError(), .unauthorized),
      // This must not look like the server's answer.
      (PersistenceError(.notFound, "no account"), .unauthorized),
      (PersistenceError(.unreachable, "offline"), .unreachable),
    ]
    let next = Atomic(0)
    let films = try RemoteServer(server.url) { _ in
      let number = next.add(1, ordering: .sequentiallyConsistent).oldValue
      if number < failures.count { throw failures[number].0 }
      return RemoteToken(number == failures.count ? "with a space" : "good")
    }.dataSource(of: Film.self)
    for (_, code) in failures {
      let error = await #expect(throws: PersistenceError.self) { try await films.find(1) }
      #expect(error?.code == code)
    }
    let malformed = await #expect(throws: PersistenceError.self) { try await films.find(1) }
    #expect(malformed?.code == .unauthorized && malformed?.message.contains("with a space") == false)
    #expect(server.requests.isEmpty)
    #expect(try await films.find(1) == Film(1, "kept"))
  }

  @Test(
    "a cancelled request does not wait for the provider, whose call ends with its last request",
    .timeLimit(.minutes(1)))
  func cancelled() async throws {
    let server = try Self.server(accepting: "good")
    let started = Atomic(0)
    let ended = Atomic(0)
    let films = try RemoteServer(server.url) { _ in
      started.add(1, ordering: .sequentiallyConsistent)
      defer { ended.add(1, ordering: .sequentiallyConsistent) }
      try await Task.sleep(for: .seconds(3600))
      return RemoteToken("good")
    }.dataSource(of: Film.self)
    let requests = (0..<3).map { _ in Task { try await films.find(1) } }
    try await until { started.load(ordering: .sequentiallyConsistent) > 0 }
    for request in requests {
      request.cancel()
      let error = await #expect(throws: PersistenceError.self) { try await request.value }
      #expect(error?.code == .cancelled)
    }
    try await until {
      ended.load(ordering: .sequentiallyConsistent) == started.load(ordering: .sequentiallyConsistent)
    }
    #expect(server.requests.isEmpty)
  }

  @Test("a provider has the time of a request", .timeLimit(.minutes(1)))
  func late() async throws {
    let server = try Self.server(accepting: "good")
    var options = RemoteOptions()
    options.requestTime = .milliseconds(50)
    let films = try RemoteServer(server.url, options: options) { _ in
      try await Task.sleep(for: .seconds(3600))
      return RemoteToken("good")
    }.dataSource(of: Film.self)
    let error = await #expect(throws: PersistenceError.self) { try await films.find(1) }
    #expect(error?.code == .timedOut)
    #expect(server.requests.isEmpty)
  }

  @Test("an outbox whose provider fails waits, sets nothing aside, and sends when it has a token again")
  func outbox() async throws {
    let server = try ScriptedServer { $0.token == "good" ? .json(#"{"applied":true}"#) : .page(401) }
    let isSignedIn = Atomic(false)
    let remote = try RemoteServer(server.url) { _ in
      guard isSignedIn.load(ordering: .sequentiallyConsistent) else { throw SignedOut() }
      return RemoteToken("good")
    }
    var options = LayerOptions<Film>()
    options.writes = .localFirst
    options.clock = TestClock()
    // The sender in the background makes one attempt; each call of send() makes another.
    options.outbox = RetryPolicy(
      attempts: 1, firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
    options.stuckEntries = .setAside(afterFailures: 1)
    let source = try LayeredDataSource(
      local: RepositoryDataSource<Film>.inMemory(), remote: remote.dataSource(of: Film.self), options: options
    )
    let outbox = try #require(source.outbox)
    for id in 1...3 { try await source.save(Film(id)) }
    for _ in 0..<5 {
      let error = await #expect(throws: PersistenceError.self) { try await outbox.send() }
      #expect(error?.code == .unauthorized)
    }
    #expect(try await outbox.waiting().count == 3)
    #expect(try await outbox.setAside().isEmpty)
    #expect(server.requests.isEmpty)
    isSignedIn.store(true, ordering: .sequentiallyConsistent)
    try await outbox.send()
    #expect(try await outbox.waiting().isEmpty)
    #expect(!server.requests.isEmpty)
  }

  @Test("a provider's tokens are not sent in plain text to another machine, and logs do not show them")
  func secrets() throws {
    let error = #expect(throws: PersistenceError.self) {
      try RemoteServer("http://example.com") { _ in RemoteToken("a-secret") }
    }
    #expect(error?.code == .invalidURL)
    #expect(throws: Never.self) { try RemoteServer("https://example.com") { _ in RemoteToken("a-secret") } }
    let token = RemoteToken("a-secret", expires: .distantFuture)
    var dumped = ""
    dump([token], to: &dumped)
    #expect(!"\(token) \(String(reflecting: token)) \([token]) \(dumped)".contains("a-secret"))
  }
}
