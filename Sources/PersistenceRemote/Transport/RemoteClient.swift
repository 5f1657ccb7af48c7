#if HTTP
  import AsyncHTTPClient
  import DataAccess
  import Foundation
  import Logging
  import NIOCore
  import NIOHTTP1
  import PersistenceDriver
  import PersistenceHTTP
  import PersistencePrimitives

  /// The connection pool of one server.
  final class RemoteClient: Sendable {
    struct Call: Sendable {
      var method: HTTPMethod
      /// The path with its parameters, relative to the server's URL.
      var path: String
      var body: JSONValue?
      var headers: [(String, String)] = []
      var wantsLines = false
      /// Whether the answer is a stream of events.
      var wantsEvents = false

      /// The media type of the answer.
      var accept: String {
        wantsEvents ? "text/event-stream" : wantsLines ? "application/x-ndjson" : "application/json"
      }
    }

    struct Reply: Sendable {
      var status: Int
      var headers: HTTPHeaders
      var body: [UInt8]

      func json() throws(PersistenceError) -> JSONValue {
        do {
          return try body.withUnsafeBytes { try JSONParser.parse($0, of: .envelope) }
        } catch {
          throw PersistenceError(.damaged, "the server's answer is not valid JSON: \(error)")
        }
      }
    }

    /// The URL without secrets, for messages.
    let location: String
    let options: RemoteOptions
    private let base: String
    private let tokens: Tokens
    private let monitoring: Monitoring
    private let client: HTTPClient
    /// The connections of event streams, which stay open and must not use up those of requests.
    private let eventClient: HTTPClient

    /// Where the tokens of requests come from.
    enum Tokens: Sendable {
      case none
      case fixed(String)
      case provider(TokenCache)
    }

    /// Creates a pool without connecting; throws ``PersistenceError/Code/invalidURL`` if the trust roots are unreadable.
    init(
      base: String, tokens: Tokens, options: RemoteOptions, monitoring: Monitoring
    ) throws(PersistenceError) {
      self.monitoring = monitoring
      self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
      location = self.base
      self.tokens = tokens
      self.options = options
      var configuration = HTTPClient.Configuration(
        tlsConfiguration: try TrustRoots.configuration(options.trustRoots), redirectConfiguration: .disallow,
        timeout: .init(connect: TimeAmount(options.connectTime), read: TimeAmount(options.readTime)))
      // Without a connection, every request would wait until its time limit.
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, options.connections)
      // Less than the 30 s after which our server closes an idle connection.
      configuration.connectionPool.idleTimeout = .seconds(20)
      // Report a refused connection at once, without retries until the timeout.
      configuration.connectionPool.retryConnectionEstablishment = false
      client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.eventConnections
      eventClient = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
      // Requests in flight retain the client, so only idle connections are left.
      client.shutdown { _ in }
      eventClient.shutdown { _ in }
    }

    /// As many as a server allows for one address by default.
    private static let eventConnections = 64

    /// Sends a request and reads the complete answer.
    ///
    /// - Throws: A transport error. An answer with an error status is returned.
    func reply(to call: Call) async throws(PersistenceError) -> Reply {
      try await mapping(call) { [self] in
        let response = try await execute(call, deadline: .now() + TimeAmount(options.requestTime))
        return try await reply(response)
      }
    }

    /// Reads a complete answer.
    ///
    /// The status of a failure suffices if its body is too long.
    private func reply(_ response: HTTPClientResponse) async throws -> Reply {
      let status = Int(response.status.code)
      do {
        let body = try await response.body.collect(upTo: options.answerSize)
        return Reply(status: status, headers: response.headers, body: Array(body.readableBytesView))
      } catch is NIOTooManyBytesError where !(200..<300).contains(status) {
        return Reply(status: status, headers: response.headers, body: [])
      }
    }

    /// Sends a request and returns the lines of its answer.
    ///
    /// - Returns: The lines, or the failure if the answer is something else.
    func lines(of call: Call) async throws(PersistenceError) -> Result<RemoteLines, RemoteFailure> {
      try await mapping(call) { [self] in
        // A stream has no total time limit; the read timeout ends one that stalls.
        let response = try await execute(call, deadline: .distantFuture)
        let head = Reply(status: Int(response.status.code), headers: response.headers, body: [])
        guard head.status == 200, head.isOf(type: call.accept) else {
          return .failure(RemoteFailure(fromServer: try await reply(response), at: location))
        }
        // Without framing, a broken connection looks like the end of the answer.
        guard response.version.major > 1 || head.isFramed else {
          throw PersistenceError(
            .unreachable,
            "the answer has neither a length nor chunks, so a proxy must have changed it; check the proxy",
            location: location)
        }
        return .success(RemoteLines(response.body, lineLimit: options.answerSize, location: location))
      }
    }

    /// Sends a request, and once more if the server rejects its token and the provider has another one.
    private func execute(_ call: Call, deadline: NIODeadline) async throws -> HTTPClientResponse {
      let cache: TokenCache
      let client = call.wantsEvents ? eventClient : client
      switch tokens {
      case .none: return try await client.execute(request(call, nil), deadline: deadline)
      case .fixed(let token): return try await client.execute(request(call, token), deadline: deadline)
      case .provider(let provider): cache = provider
      }
      let token = try await cache.token(within: options.requestTime)
      let response = try await client.execute(request(call, token.text), deadline: deadline)
      guard response.status == .unauthorized else { return response }
      let other = try await cache.token(rejecting: token, within: options.requestTime)
      guard other.text != token.text else { return response }
      return try await client.execute(request(call, other.text), deadline: deadline)
    }

    private func request(_ call: Call, _ token: String?) -> HTTPClientRequest {
      var request = HTTPClientRequest(url: base + call.path)
      request.method = call.method
      for (name, value) in call.headers { request.headers.replaceOrAdd(name: name, value: value) }
      if let token { request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token)") }
      request.headers.replaceOrAdd(name: "Accept", value: call.accept)
      if let body = call.body {
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: JSONText.canonical(body)))
      }
      return request
    }

    private func mapping<Value>(_ call: Call, _ body: () async throws -> Value) async throws(PersistenceError)
      -> Value
    {
      let start = ContinuousClock.now
      defer { report(call, ContinuousClock.now - start) }
      do {
        // Do not send a request of a cancelled task.
        try Task.checkCancellation()
        return try await body()
      } catch {
        throw TransportFailure.error(error, location: location)
      }
    }

    /// Logs a slow request.
    ///
    /// The path may contain user data, so it appears only at debug level.
    private func report(_ call: Call, _ duration: Duration) {
      guard duration > monitoring.slowRequest else { return }
      var logger = monitoring.logger
      logger[metadataKey: "store"] = .string(location)
      logger.warning(
        "slow request",
        metadata: ["method": .string(call.method.rawValue), "duration": .string("\(duration)")])
      logger.debug("slow request, with its values", metadata: ["path": .string(call.path)])
    }
  }

  extension RemoteClient.Reply {
    /// Whether the end of the answer is detectable.
    fileprivate var isFramed: Bool {
      headers.contains(name: "Transfer-Encoding") || headers.contains(name: "Content-Length")
    }
  }

  /// The lines of a streamed answer.
  ///
  /// Releasing it ends the request.
  final class RemoteLines: @unchecked Sendable {  // one task at a time uses it
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var rest = ByteBuffer()
    private var scanned = 0
    private let lineLimit: Int
    private let location: String

    init(_ body: HTTPClientResponse.Body, lineLimit: Int, location: String) {
      iterator = body.makeAsyncIterator()
      self.lineLimit = lineLimit
      self.location = location
    }

    /// The next line as JSON; nil at the end of a complete answer.
    func next() async throws(PersistenceError) -> JSONValue? {
      while let line = try await line() {
        if line.readableBytes > 0 { return try parse(line) }
      }
      return nil
    }

    /// The next line, without its end; nil at the end of a complete answer.
    func line() async throws(PersistenceError) -> ByteBuffer? {
      while true {
        let view = rest.readableBytesView
        if let end = view[(view.startIndex + scanned)...].firstIndex(of: UInt8(ascii: "\n")) {
          let length = end - view.startIndex
          scanned = 0
          let line = rest.readSlice(length: length) ?? ByteBuffer()
          rest.moveReaderIndex(forwardBy: 1)
          if rest.readerIndex > 1 << 20 { rest.discardReadBytes() }
          return line
        }
        scanned = view.count
        guard scanned <= lineLimit else { throw TransportFailure.tooLong("line", location) }
        var more: ByteBuffer?
        do {
          more = try await iterator.next()
        } catch {
          throw TransportFailure.error(error, location: location)
        }
        guard var more else {
          guard rest.readableBytes == 0 else {
            throw PersistenceError(
              .unreachable, "the server's answer ends in the middle of a line", location: location)
          }
          return nil
        }
        if rest.readableBytes == 0 {
          rest = more
        } else {
          rest.writeBuffer(&more)
        }
      }
    }

    private func parse(_ line: ByteBuffer) throws(PersistenceError) -> JSONValue {
      do {
        return try line.withUnsafeReadableBytes { try JSONParser.parse($0, of: .envelope) }
      } catch {
        throw PersistenceError(
          .damaged, "a line of the server's answer is not valid JSON: \(error)", location: location)
      }
    }
  }
#endif
