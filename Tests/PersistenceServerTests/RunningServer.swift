import Foundation
import Logging
import PersistenceDriver
import PersistenceServer

/// A server in this process, on a loopback port.
struct RunningServer: Sendable {
  static let readToken = "a-token-that-may-read"
  static let writeToken = "a-token-that-may-write"

  let port: Int
  let server: StoreServer
  private let isSecure: Bool
  private let stop: ServerStop
  private let task: Task<Void, any Error>

  var url: String { url("127.0.0.1") }

  /// The URL by one of the names of this machine.
  func url(_ host: String) -> String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

  /// Starts a server and waits until it listens.
  static func start(
    _ context: any StorageContext, limits: ServerLimits = ServerLimits(),
    evolution: ServerEvolution = .none, port: Int = 0, tokens: AccessTokens? = nil,
    hostNames: [String]? = nil, origins: [String] = [], tls: ServerTLS? = nil
  ) async throws -> RunningServer {
    let tokens = try tokens ?? AccessTokens(read: [readToken], write: [writeToken])
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    let server = StoreServer(
      context, tokens: tokens, limits: limits, evolution: evolution, hostNames: hostNames,
      allowedOrigins: origins, tls: tls, logger: logger)
    let stop = ServerStop()
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let task = Task {
      defer { continuation.finish() }
      try await server.run(port: port, stop: stop) { continuation.yield($0) }
    }
    for await port in ports {
      return RunningServer(port: port, server: server, isSecure: tls != nil, stop: stop, task: task)
    }
    try await task.value
    throw PersistenceError(.inputOutput, "the server ended before it listened")
  }

  func askToStop() { stop.ask() }

  func ended() async throws { try await task.value }

  /// Runs a closure with a server and then stops it.
  static func with<Result>(
    _ context: any StorageContext, limits: ServerLimits = ServerLimits(),
    evolution: ServerEvolution = .none, tokens: AccessTokens? = nil, hostNames: [String]? = nil,
    origins: [String] = [], tls: ServerTLS? = nil, _ body: (RunningServer) async throws -> Result
  ) async throws -> Result {
    let server = try await start(
      context, limits: limits, evolution: evolution, tokens: tokens, hostNames: hostNames, origins: origins,
      tls: tls)
    let result: Result
    do {
      result = try await body(server)
    } catch {
      server.askToStop()
      try? await server.ended()
      throw error
    }
    server.askToStop()
    try await server.ended()
    return result
  }
}
