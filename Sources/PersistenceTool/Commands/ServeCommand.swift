#if CommandLineTool && HTTP
  import ArgumentParser
  import Dispatch
  import Foundation
  import Logging
  import PersistenceDriver
  import PersistenceServer
  import Synchronization

  /// Serves a store over HTTP until a signal stops it.
  struct ServeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Serve a store over HTTP, as JSON.",
      discussion: """
        Clients authenticate with a token: Authorization: Bearer …. The server reads tokens from files, one per \
        line, or from the environment (PERSISTENCE_READ_TOKENS and PERSISTENCE_WRITE_TOKENS, separated by commas), \
        never from arguments, which other processes can see. SIGHUP reads the files again. /openapi.json describes \
        the API. SIGTERM and SIGINT stop the server after it has answered the requests in flight.

        For clients on other machines, use TLS: --tls-certificate and --tls-key, or a proxy in front of the server.
        """)

    @Argument(help: "The store's URL.")
    var url: String

    @Option(
      help: ArgumentHelp("The address to listen on; port 0 selects a free port.", valueName: "host:port"))
    var listen = "127.0.0.1:8080"

    @Option(help: ArgumentHelp("A file of tokens for reading, one per line.", valueName: "file"))
    var readTokens: String?

    @Option(help: ArgumentHelp("A file of tokens for reading and writing, one per line.", valueName: "file"))
    var writeTokens: String?

    @Flag(help: "Serve every client without tokens; only on a loopback address.")
    var withoutTokens = false

    @Option(
      help: ArgumentHelp(
        "A PEM file: the server's certificate, then those of its issuers; needs --tls-key.", valueName: "file"
      ))
    var tlsCertificate: String?

    @Option(
      help: ArgumentHelp(
        "A PEM file with the private key of the certificate; needs --tls-certificate.", valueName: "file"))
    var tlsKey: String?

    @Option(
      help: ArgumentHelp(
        "Let clients add optional fields, fields with a fill, and indexes that are not unique: “additive”. "
          + "Without it, clients only define models that the store does not have.", valueName: "changes"))
    var evolve: Evolution?

    @Option(
      help: ArgumentHelp(
        "A name by which clients may address the server, beside localhost; repeatable. Without it, any name is "
          + "accepted, or only localhost with --without-tokens.", valueName: "name"))
    var hostName: [String] = []

    @Option(
      help: ArgumentHelp(
        "An origin whose web pages may use the server (CORS), such as https://movies.example, or “*”; repeatable.",
        valueName: "origin"))
    var allowOrigin: [String] = []

    @Flag(help: "Log each request.")
    var accessLog = false

    @Option(help: "The maximum size of a request body, in bytes.")
    var maxBody = ServerLimits().bodySize

    @Option(help: "The maximum number of records per page.")
    var maxPage = ServerLimits().pageSize

    @Option(help: "The maximum nesting depth of a condition, at most 500.")
    var maxDepth = ServerLimits().queryDepth

    @Option(help: "The time limit of a request, in seconds.")
    var maxSeconds = 30

    @Option(help: "The maximum number of concurrent connections.")
    var maxConnections = ServerLimits().connections

    @Option(help: "The maximum number of concurrent reads of one client.")
    var maxReads = ServerLimits().readsPerClient

    @Option(help: "The memory for answers that clients have not received yet, in bytes.")
    var maxAnswers = ServerLimits().answerBytes

    @OptionGroup var common: CommonOptions

    func validate() throws {
      _ = try address()
      let (clamped, most) = (ServerLimits(pageSize: .max, queryDepth: .max, connections: .max), 1 << 40)
      for (name, value, maximum) in [
        ("--max-body", maxBody, most), ("--max-page", maxPage, clamped.pageSize),
        ("--max-depth", maxDepth, clamped.queryDepth), ("--max-seconds", maxSeconds, 1 << 30),
        ("--max-connections", maxConnections, clamped.connections), ("--max-reads", maxReads, most),
        ("--max-answers", maxAnswers, most),
      ] where value < 1 || value > maximum {
        throw ValidationError("\(name) must be an integer from 1 to \(maximum)")
      }
      if (tlsCertificate == nil) != (tlsKey == nil) {
        throw ValidationError("TLS needs both --tls-certificate and --tls-key")
      }
      if withoutTokens, readTokens != nil || writeTokens != nil {
        throw ValidationError("--without-tokens excludes --read-tokens and --write-tokens")
      }
      if withoutTokens, !["127.0.0.1", "::1", "localhost"].contains(try address().host) {
        throw ValidationError("--without-tokens requires --listen on 127.0.0.1, ::1 or localhost")
      }
    }

    /// The changes that clients may make.
    enum Evolution: String, ExpressibleByArgument, CaseIterable { case additive }

    private func address() throws -> ListenAddress {
      guard let address = ListenAddress(listen) else {
        throw ValidationError(
          "--listen must have the form host:port, for example 127.0.0.1:8080 or [::1]:8080")
      }
      return address
    }

    private func tokens(_ session: ToolSession) throws -> AccessTokens {
      withoutTokens
        ? .open : try TokenFiles(read: readTokens, write: writeTokens).tokens(warning: session.say)
    }

    private var limits: ServerLimits {
      ServerLimits(
        bodySize: maxBody, pageSize: maxPage, defaultPageSize: min(100, maxPage), queryDepth: maxDepth,
        requestTime: .seconds(maxSeconds), connections: maxConnections,
        connectionsPerPeer: max(1, maxConnections / 2), readsPerClient: maxReads, answerBytes: maxAnswers)
    }

    private var tlsFiles: TLSFiles? {
      guard let tlsCertificate, let tlsKey else { return nil }
      return TLSFiles(certificate: tlsCertificate, key: tlsKey)
    }

    /// Makes SIGHUP read the files of tokens and of TLS again; nil without both.
    private func reloading(_ server: StoreServer, _ logger: Logger) -> (any DispatchSourceSignal)? {
      let tokenFiles = withoutTokens ? nil : TokenFiles(read: readTokens, write: writeTokens)
      let tlsFiles = tlsFiles
      guard tokenFiles != nil || tlsFiles != nil else { return nil }
      signal(SIGHUP, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
      source.setEventHandler {
        if let tokenFiles {
          do {
            try server.replaceTokens(try tokenFiles.tokens { logger.warning("\($0)") })
            logger.notice("read the tokens again")
          } catch {
            logger.error("the tokens stay as they are", metadata: ["error": "\(error)"])
          }
        }
        if let tlsFiles {
          do {
            try server.replaceTLS(try tlsFiles.tls { logger.warning("\($0)") })
            logger.notice("read the certificate again")
          } catch {
            logger.error("the certificate stays as it is", metadata: ["error": "\(error)"])
          }
        }
      }
      source.activate()
      return source
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let (address, tokens) = (try address(), try tokens(session))
      let tls = try tlsFiles?.tls(warning: session.say)
      let stores = ToolStores(session, isVerbose: common.verbose)
      return try stores.with(stores.openForWriting(url)) { store in
        var logger = Logger(label: "persistence.server") { _ in MessageLogHandler() }
        logger.logLevel = common.verbose || accessLog ? .info : .notice
        let server = StoreServer(
          store, tokens: tokens, limits: limits, evolution: evolve == .additive ? .additive : .none,
          hostNames: hostName.isEmpty ? nil : hostName, allowedOrigins: allowOrigin, tls: tls,
          logger: logger)
        let reload = reloading(server, logger)
        defer { reload?.cancel() }
        // The server has its own threads; this one waits for its events.
        let listening = Mutex<Int?>(nil)
        let ended = Mutex<Result<Void, any Error>?>(nil)
        let event = DispatchSemaphore(value: 0)
        Task {
          let result: Result<Void, any Error>
          do {
            try await server.run(host: address.host, port: address.port, endsOnSignals: true) { port in
              listening.withLock { $0 = port }
              event.signal()
            }
            result = .success(())
          } catch {
            result = .failure(error)
          }
          ended.withLock { $0 = result }
          event.signal()
        }
        while true {
          event.wait()
          if let port = listening.withLock({ port in port.take() }) {
            let url = address.url(port: port, scheme: tls == nil ? "http" : "https")
            try session.say("serving \(store.location) on \(url)")
          }
          guard let result = ended.withLock(\.self) else { continue }
          try result.get()
          break
        }
        try? session.say("stopped")  // Nobody may read this; the server has stopped cleanly.
        return .success
      }
    }
  }
#endif
