import AsyncHTTPClient
import DataAccess
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// The connections to one server, and what every request to it carries.
final class RemoteClient: Sendable {
  /// A request.
  struct Call: Sendable {
    var method: HTTPMethod
    /// The path with its parameters, under the server's URL.
    var path: String
    var body: JSONValue?
    var headers: [(String, String)] = []
    var wantsLines = false
  }

  /// An answer, whole.
  struct Reply: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]

    func json() throws(PersistenceError) -> JSONValue {
      do {
        return try body.withUnsafeBytes { try JSONParser.parse($0) }
      } catch {
        throw PersistenceError(.damaged, "the server's answer is no JSON: \(error)")
      }
    }
  }

  /// The server, without secrets: for messages.
  let location: String
  let options: RemoteOptions
  private let base: String
  private let token: String?
  private let monitoring: Monitoring
  private let client: HTTPClient

  init(base: String, token: String?, options: RemoteOptions, monitoring: Monitoring) {
    self.monitoring = monitoring
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    location = self.base
    self.token = token
    self.options = options
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: TimeAmount(options.connectTime), read: TimeAmount(options.readTime)))
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connections
    // Before a server of ours, which waits 30 s for the next request, closes them.
    configuration.connectionPool.idleTimeout = .seconds(20)
    // A client that is refused is told so, rather than tried until its time is up.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  deinit {
    // Requests under way keep the client; what is left are connections that nobody uses.
    client.shutdown { _ in }
  }

  /// Makes a request and reads the whole answer.
  ///
  /// - Throws: What keeps an answer from coming; an answer that is a failure is an answer here.
  func reply(to call: Call) async throws(PersistenceError) -> Reply {
    try await mapping(call) { [self] in
      let response = try await client.execute(request(call), timeout: TimeAmount(options.requestTime))
      return try await reply(response)
    }
  }

  /// Reads an answer whole.
  ///
  /// One that is a failure says what it is by its status, however long it is.
  private func reply(_ response: HTTPClientResponse) async throws -> Reply {
    let status = Int(response.status.code)
    do {
      let body = try await response.body.collect(upTo: options.answerSize)
      return Reply(status: status, headers: response.headers, body: Array(body.readableBytesView))
    } catch is NIOTooManyBytesError where !(200..<300).contains(status) {
      return Reply(status: status, headers: response.headers, body: [])
    }
  }

  /// Makes a request whose answer is read line by line.
  ///
  /// - Returns: The lines, or the answer where it is something else.
  func lines(of call: Call) async throws(PersistenceError) -> Result<RemoteLines, RemoteFailure> {
    try await mapping(call) { [self] in
      // The whole may take as long as somebody reads; what stands still is ended by the time for reading.
      let response = try await client.execute(request(call), deadline: .distantFuture)
      let head = Reply(status: Int(response.status.code), headers: response.headers, body: [])
      guard head.status == 200, head.isOf(type: "application/x-ndjson") else {
        return .failure(RemoteFailure(ofStore: try await reply(response), at: location))
      }
      // An answer that only ends with its connection could break off anywhere and look whole.
      guard response.version.major > 1 || head.isFramed else {
        throw PersistenceError(
          .unreachable, "the answer does not say where it ends: what stands between changed it",
          location: location)
      }
      return .success(RemoteLines(response.body, lineLimit: options.answerSize, location: location))
    }
  }

  private func request(_ call: Call) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: base + call.path)
    request.method = call.method
    for (name, value) in call.headers { request.headers.replaceOrAdd(name: name, value: value) }
    if let token { request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token)") }
    request.headers.replaceOrAdd(
      name: "Accept", value: call.wantsLines ? "application/x-ndjson" : "application/json")
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
      // What is cancelled before it began is not sent.
      try Task.checkCancellation()
      return try await body()
    } catch {
      throw TransportFailure.error(error, location: location)
    }
  }

  /// Reports a request that took longer than is expected; what its path holds of a user at debug level only.
  private func report(_ call: Call, _ duration: Duration) {
    guard duration > monitoring.slowRequest else { return }
    var logger = monitoring.logger
    logger[metadataKey: "store"] = .string(location)
    logger.warning(
      "slow request", metadata: ["method": .string(call.method.rawValue), "duration": .string("\(duration)")])
    logger.debug("slow request, with its values", metadata: ["path": .string(call.path)])
  }
}

extension RemoteClient.Reply {
  /// Whether its end can be told from its breaking off.
  fileprivate var isFramed: Bool {
    headers.contains(name: "Transfer-Encoding") || headers.contains(name: "Content-Length")
  }
}
