#if HTTP
  import Hummingbird
  import HummingbirdCore
  public import Logging
  import NIOCore
  public import PersistenceDriver
  import PersistenceDriverSupport
  import ServiceLifecycle
  import UnixSignals

  /// An HTTP server for one store; see Documentation/Server.md.
  ///
  /// It needs no Swift types: it serves the models of the store's catalog, and those that clients define. Clients whose
  /// declarations differ read and write as if the store were theirs (contract S1).
  public struct StoreServer: Sendable {
    private let context: any StorageContext
    private let tokens: CurrentTokens
    private let evolution: ServerEvolution
    let hosts: HostNames
    private let origins: AllowedOrigins
    let limits: ServerLimits
    private let tls: CurrentTLS?
    private let logger: Logger

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - context: The store. The server does not close it.
    ///   - tokens: The tokens for reading and writing.
    ///   - limits: The limits of requests and connections, each of which is clamped to its range.
    ///   - evolution: The changes of models that clients may make.
    ///   - hostNames: The names and addresses by which clients may address the server in the header Host, beside
    ///     `localhost`, `127.0.0.1` and `[::1]`. With nil, a server with tokens accepts any name, and one without only
    ///     these three: otherwise, any web page could make a browser on this machine its client.
    ///   - allowedOrigins: The origins whose web pages may use the server from a browser (CORS), such as
    ///     `https://movies.example`; `*` permits all.
    ///   - tls: The certificate for TLS; with nil, the server speaks plain HTTP.
    ///   - logger: Logs failures whose details clients do not receive, and each request at the level `info`.
    public init(
      _ context: any StorageContext, tokens: AccessTokens, limits: ServerLimits = ServerLimits(),
      evolution: ServerEvolution = .none, hostNames: [String]? = nil, allowedOrigins: [String] = [],
      tls: ServerTLS? = nil, logger: Logger = Logger(label: "persistence.server")
    ) {
      self.context = context
      self.tokens = CurrentTokens(tokens)
      hosts = HostNames(
        hostNames.map { $0 + HostNames.loopback } ?? (tokens.isOpen ? HostNames.loopback : nil))
      origins = AllowedOrigins(allowedOrigins)
      self.limits = limits.clamped
      self.evolution = evolution
      self.tls = tls.map { CurrentTLS($0) }
      self.logger = logger
    }

    /// Replaces the tokens for requests that begin later, of all running servers that are copies of this value.
    ///
    /// - Parameter tokens: The new tokens.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if either the old or the new
    ///   tokens permit everything, which decides the permitted host names.
    public func replaceTokens(_ tokens: AccessTokens) throws { try self.tokens.replace(with: tokens) }

    /// Replaces the certificate for connections that begin later, of all running servers that are copies of this value.
    ///
    /// - Parameter tls: The new certificate and key.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the server does not speak TLS.
    public func replaceTLS(_ tls: ServerTLS) throws {
      guard let current = self.tls else {
        throw PersistenceError.invalidRequest("a server without TLS cannot get a certificate; start another")
      }
      current.replace(with: tls)
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
    ///   on the address, or ``PersistenceError/Code/timedOut`` if a request still uses the store two seconds after the
    ///   time limit: a write, or a read of a context that does not check for interruptions.
    public func run(
      host: String = "127.0.0.1", port: Int, endsOnSignals: Bool = false, stop: ServerStop = ServerStop(),
      whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
      let reading = BlockingThreads(
        "server", limit: limits.readingThreads, queueLimit: limits.waitingRequests)
      // Where a store has one writer at a time, the second thread parses the next request meanwhile.
      let writers = context.capabilities.writesInParallel ? max(2, limits.readingThreads) : 2
      let writing = BlockingThreads("server", limit: writers, queueLimit: limits.waitingRequests)
      var failure: (any Error)?
      do {
        try await serve(host, port, endsOnSignals, stop, whenListening, reading, writing)
      } catch let error as IOError {
        failure = PersistenceError(
          .inputOutput, "cannot listen on \(host):\(port): \(error)",
          location: "\(tls == nil ? "http" : "https")://\(host):\(port)")
      } catch {
        failure = error
      }
      // Reads that nobody waits for any more were interrupted.
      let hasRead = await reading.close(within: Self.threadTime)
      let hasWritten = await writing.close(within: Self.threadTime)
      if let failure { throw failure }
      guard hasRead, hasWritten else {
        throw PersistenceError(
          .timedOut, "a request still uses the store after the time for stopping; end the process to stop it")
      }
    }

    /// The time in which an interrupted read ends, with a margin.
    private static let threadTime = Duration.seconds(1)

    private func serve(
      _ host: String, _ port: Int, _ endsOnSignals: Bool, _ stop: ServerStop,
      _ whenListening: @escaping @Sendable (Int) async -> Void, _ reading: BlockingThreads,
      _ writing: BlockingThreads
    ) async throws {
      let (limits, hosts, tls, metrics) = (limits, hosts, tls, ServerMetrics())
      let connections = ConnectionTable(
        limit: limits.connections, peerLimit: limits.connectionsPerPeer, gauge: metrics.connections)
      let responder = responder(connections, reading, writing, metrics)
      let application = Application(
        responder: responder,
        server: .http1(
          configuration: HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionDeadlines(limits, connections, hosts, tls)],
            httpDecoderConfiguration: .init(
              // Above the path limit, so that a longer path gets a problem as its answer.
              maxHeaderFieldSize: 2 * limits.pathSize, maxHeaderListSize: 4 * limits.pathSize,
              maxHeaderFieldCount: 100))),
        configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: nil),
        onServerRunning: { channel in await whenListening(channel.localAddress?.port ?? port) },
        logger: logger)
      var configuration = ServiceGroupConfiguration(
        services: [application], gracefulShutdownSignals: endsOnSignals ? [.sigterm, .sigint] : [],
        logger: logger)
      configuration.maximumGracefulShutdownDuration = limits.shutdownTime
      let group = ServiceGroup(configuration: configuration)
      stop.whenAsked { await group.triggerGracefulShutdown() }
      try await group.run()
    }

    /// The responder to the requests of some connections.
    func responder(
      _ connections: ConnectionTable, _ reading: BlockingThreads, _ writing: BlockingThreads,
      _ metrics: ServerMetrics
    ) -> StoreResponder {
      StoreResponder(
        service: StoreService(context: context, limits: limits, evolution: evolution), tokens: tokens,
        origins: origins, connections: connections, reading: reading, writing: writing, metrics: metrics,
        logger: logger)
    }
  }
#endif
