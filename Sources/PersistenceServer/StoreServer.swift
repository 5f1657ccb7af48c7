import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import PersistenceDriver
import PersistenceDriverSupport
import ServiceLifecycle
import Synchronization
import UnixSignals

/// An HTTP server for one store; see Documentation/Server.md.
///
/// It needs no Swift types: it serves the models of the store's catalog, and those that clients define.
public struct StoreServer: Sendable {
  private let context: any StorageContext
  private let tokens: AccessTokens
  private let limits: ServerLimits
  private let logger: Logger

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - context: The store. The server does not close it.
  ///   - tokens: The tokens for reading and writing.
  ///   - limits: The limits of requests and connections.
  ///   - logger: Logs failures whose details clients do not receive.
  public init(
    _ context: any StorageContext, tokens: AccessTokens, limits: ServerLimits = ServerLimits(),
    logger: Logger = Logger(label: "persistence.server")
  ) {
    self.context = context
    self.tokens = tokens
    self.limits = limits
    self.logger = logger
  }

  /// Serves until the task is cancelled, the process gets a signal, or `stop` is asked.
  ///
  /// Then the server accepts no connections and finishes the requests in flight, for at most
  /// ``ServerLimits/shutdownTime``.
  ///
  /// - Parameters:
  ///   - host: The address to listen on.
  ///   - port: The port; 0 for any free one.
  ///   - endsOnSignals: Whether SIGTERM and SIGINT stop the server.
  ///   - stop: Stops the server on request.
  ///   - whenListening: Receives the port.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/inputOutput`` if the server cannot listen
  ///   on the address.
  public func run(
    host: String = "127.0.0.1", port: Int, endsOnSignals: Bool = false, stop: ServerStop = ServerStop(),
    whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) async throws {
    let reading = BlockingThreads("server", limit: limits.readingThreads, queueLimit: limits.waitingRequests)
    // A store has one writer at a time. The second thread parses the next request meanwhile.
    let writing = BlockingThreads("server", limit: 2, queueLimit: limits.waitingRequests)
    var failure: (any Error)?
    do {
      try await serve(host, port, endsOnSignals, stop, whenListening, reading, writing)
    } catch let error as IOError {
      failure = PersistenceError(
        .inputOutput, "cannot listen on \(host):\(port): \(error)", location: "http://\(host):\(port)")
    } catch {
      failure = error
    }
    await reading.close()
    await writing.close()
    if let failure { throw failure }
  }

  private func serve(
    _ host: String, _ port: Int, _ endsOnSignals: Bool, _ stop: ServerStop,
    _ whenListening: @escaping @Sendable (Int) async -> Void, _ reading: BlockingThreads,
    _ writing: BlockingThreads
  ) async throws {
    let limits = limits
    let responder = StoreResponder(
      service: StoreService(context: context, limits: limits), tokens: tokens, reading: reading,
      writing: writing, logger: logger)
    let application = Application(
      responder: responder,
      server: .http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [ConnectionDeadlines(limits)],
          httpDecoderConfiguration: .init(
            // Above the path limit, so that a longer path gets a problem as its answer.
            maxHeaderFieldSize: 2 * limits.pathSize, maxHeaderListSize: 4 * limits.pathSize,
            maxHeaderFieldCount: 100))),
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: port), serverName: nil,
        availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: logger)),
      onServerRunning: { channel in await whenListening(channel.localAddress?.port ?? port) }, logger: logger)
    var configuration = ServiceGroupConfiguration(
      services: [application], gracefulShutdownSignals: endsOnSignals ? [.sigterm, .sigint] : [],
      logger: logger)
    configuration.maximumGracefulShutdownDuration = limits.shutdownTime
    let group = ServiceGroup(configuration: configuration)
    stop.whenAsked { await group.triggerGracefulShutdown() }
    try await group.run()
  }
}

/// Stops a running server on request.
public final class ServerStop: Sendable {
  private enum State {
    case running([@Sendable () async -> Void])
    case asked
  }

  private let state = Mutex(State.running([]))

  /// Creates a stop request that has not been made.
  public init() {}

  /// Stops the servers that run with it now, and those that start later.
  public func ask() {
    let waiting = state.withLock { state -> [@Sendable () async -> Void] in
      guard case .running(let waiting) = state else { return [] }
      state = .asked
      return waiting
    }
    for body in waiting { Task { await body() } }
  }

  func whenAsked(_ body: @escaping @Sendable () async -> Void) {
    let isAsked = state.withLock { state in
      guard case .running(let waiting) = state else { return true }
      state = .running(waiting + [body])
      return false
    }
    if isAsked { Task { await body() } }
  }
}

/// The limits of requests and connections, which protect clients from each other.
public struct ServerLimits: Sendable, Hashable {
  /// The maximum size of a body, in bytes.
  public var bodySize: Int
  /// The maximum size of a path with its parameters, in bytes.
  public var pathSize: Int
  /// The maximum size of an answer that is not streamed, in bytes.
  ///
  /// A longer page ends early, with a token.
  public var pageBytes: Int
  /// The maximum number of records of a page.
  ///
  /// Streamed answers have no limit.
  public var pageSize: Int
  /// The number of records of a page if the request does not specify it.
  public var defaultPageSize: Int
  /// The maximum nesting of a predicate.
  public var queryDepth: Int
  /// The maximum number of comparisons and values of a predicate.
  public var querySize: Int
  /// The time limit for the work of a request, or of one part of a streamed answer.
  public var requestTime: Duration
  /// The time limit for the head of a request, from the start of the connection or the end of the previous
  /// answer.
  public var headTime: Duration
  /// The time limit for the body of a request.
  public var bodyTime: Duration
  /// The time limit for a client to read what the server has sent.
  public var writeTime: Duration
  /// The maximum number of connections; others wait for acceptance.
  public var connections: Int
  /// The maximum number of requests that wait for a thread.
  ///
  /// The server rejects others as busy.
  public var waitingRequests: Int
  /// The maximum number of concurrent reads.
  public var readingThreads: Int
  /// The time limit for requests in flight after a stop.
  public var shutdownTime: Duration

  /// Creates limits.
  public init(
    bodySize: Int = 8 << 20, pathSize: Int = 16 << 10, pageBytes: Int = 16 << 20, pageSize: Int = 1000,
    defaultPageSize: Int = 100, queryDepth: Int = 32, querySize: Int = 2000,
    requestTime: Duration = .seconds(30), headTime: Duration = .seconds(30),
    bodyTime: Duration = .seconds(60), writeTime: Duration = .seconds(60), connections: Int = 1024,
    waitingRequests: Int = 1024, readingThreads: Int = 16, shutdownTime: Duration = .seconds(30)
  ) {
    self.bodySize = bodySize
    self.pathSize = pathSize
    self.pageBytes = pageBytes
    self.pageSize = max(1, pageSize)
    self.defaultPageSize = max(1, min(defaultPageSize, pageSize))
    self.queryDepth = queryDepth
    self.querySize = querySize
    self.requestTime = requestTime
    self.headTime = headTime
    self.bodyTime = bodyTime
    self.writeTime = writeTime
    self.connections = max(1, connections)
    self.waitingRequests = max(1, waitingRequests)
    self.readingThreads = max(1, readingThreads)
    self.shutdownTime = shutdownTime
  }
}
