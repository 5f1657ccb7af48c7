import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import PersistenceDriver
import ServiceLifecycle
import UnixSignals

/// A server of one store over HTTP, as Documentation/Server.md describes.
///
/// It knows no Swift types of models: what it serves are the models in the store's catalog, and those that clients define.
public struct StoreServer: Sendable {
  private let context: any StorageContext
  private let tokens: AccessTokens
  private let limits: ServerLimits
  private let logger: Logger

  /// Makes a server; it serves nothing until it is run.
  ///
  /// - Parameters:
  ///   - context: The store, which is not closed by the server.
  ///   - tokens: Who may read and write.
  ///   - limits: What clients may ask.
  ///   - logger: Where failures are told that clients are not told.
  public init(
    _ context: any StorageContext, tokens: AccessTokens, limits: ServerLimits = ServerLimits(),
    logger: Logger = Logger(label: "persistence.server")
  ) {
    self.context = context
    self.tokens = tokens
    self.limits = limits
    self.logger = logger
  }

  /// Serves until the task is cancelled, the process is told to stop, or `stop` is.
  ///
  /// Then no more connections are accepted, requests under way are finished, and after ``ServerLimits/shutdownTime``
  /// broken off.
  ///
  /// - Parameters:
  ///   - host: The address to listen on.
  ///   - port: The port; 0 for any that is free.
  ///   - endsOnSignals: Whether SIGTERM and SIGINT stop the server.
  ///   - stop: What else stops it.
  ///   - whenListening: Told the port.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/inputOutput`` where the address cannot be listened
  ///   on.
  public func run(
    host: String = "127.0.0.1", port: Int, endsOnSignals: Bool = false, stop: ServerStop = ServerStop(),
    whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) async throws {
    let reading = WorkThreads(threads: limits.readingThreads, waiting: limits.waitingRequests)
    // One writes at a time whatever the number; a second one has its request read meanwhile.
    let writing = WorkThreads(threads: 2, waiting: limits.waitingRequests)
    let failure = await Self.failure {
      try await serve(host, port, endsOnSignals, stop, whenListening, reading, writing)
    }
    try await reading.shutDown()
    try await writing.shutDown()
    guard let failure else { return }
    if let failure = failure as? IOError {
      throw PersistenceError(
        .inputOutput, "\(host):\(port) cannot be listened on: \(failure)", location: "http://\(host):\(port)")
    }
    throw failure
  }

  private static func failure(of body: () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  private func serve(
    _ host: String, _ port: Int, _ endsOnSignals: Bool, _ stop: ServerStop,
    _ whenListening: @escaping @Sendable (Int) async -> Void, _ reading: WorkThreads, _ writing: WorkThreads
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
            // Somewhat more than the path may have, so that a longer one is answered by a problem.
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
