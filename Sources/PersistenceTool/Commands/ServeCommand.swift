#if HTTP
  import ArgumentParser
  import Dispatch
  import Foundation
  import Logging
  import PersistenceDriver
  import PersistenceServer
  import Synchronization

  /// Serves a store over HTTP until it is told to stop.
  struct ServeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Serve a store over HTTP, as JSON.",
      discussion: """
        Clients show a token: Authorization: Bearer …. Tokens are read from files, one a line, or from the \
        environment (PERSISTENCE_READ_TOKENS, PERSISTENCE_WRITE_TOKENS, separated by commas), never from \
        arguments, which other processes can see. The description of everything that is served is at \
        /openapi.json. SIGTERM and SIGINT stop the server once the requests under way are answered.

        The server speaks HTTP; what reaches it from other machines should come through something that \
        speaks TLS.
        """)

    @Argument(help: "The store's URL.")
    var url: String

    @Option(help: ArgumentHelp("Where to listen; port 0 takes any that is free.", valueName: "host:port"))
    var listen = "127.0.0.1:8080"

    @Option(help: ArgumentHelp("A file of tokens that may read, one a line.", valueName: "file"))
    var readTokens: String?

    @Option(help: ArgumentHelp("A file of tokens that may read and write, one a line.", valueName: "file"))
    var writeTokens: String?

    @Flag(help: "Serve everybody who can connect, without tokens; only on an address of this machine.")
    var withoutTokens = false

    @Option(help: "The longest body of a request, in bytes.")
    var maxBody = ServerLimits().bodySize

    @Option(help: "The most records of a page.")
    var maxPage = ServerLimits().pageSize

    @Option(help: "How deep a condition may be nested.")
    var maxDepth = ServerLimits().queryDepth

    @Option(help: "How many seconds a request may take.")
    var maxSeconds = 30

    @Option(help: "How many connections are served at once.")
    var maxConnections = ServerLimits().connections

    @OptionGroup var common: CommonOptions

    func validate() throws {
      _ = try address()
      for (name, value) in [
        ("--max-body", maxBody), ("--max-page", maxPage), ("--max-depth", maxDepth),
        ("--max-seconds", maxSeconds), ("--max-connections", maxConnections),
      ] where value < 1 || value > 1 << 40 {
        throw ValidationError("\(name) is a whole number from 1 on")
      }
      if withoutTokens, readTokens != nil || writeTokens != nil {
        throw ValidationError("--without-tokens and files of tokens exclude each other")
      }
      if withoutTokens, !["127.0.0.1", "::1", "localhost"].contains(try address().host) {
        throw ValidationError("without tokens a store is served only on 127.0.0.1, ::1 or localhost")
      }
    }

    private func address() throws -> ListenAddress {
      guard let address = ListenAddress(listen) else {
        throw ValidationError("--listen is host:port, such as 127.0.0.1:8080 or [::1]:8080")
      }
      return address
    }

    private func tokens() throws -> AccessTokens {
      if withoutTokens { return .open }
      let environment = ProcessInfo.processInfo.environment
      func list(_ file: String?, _ variable: String) throws -> [String] {
        var text = environment[variable]?.replacing(",", with: "\n") ?? ""
        if let file {
          guard let data = FileManager.default.contents(atPath: file),
            let content = String(validating: data, as: UTF8.self)
          else { throw ToolFailure.inputOutput("\(file) cannot be read as text") }
          text += "\n" + content
        }
        return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
          .filter { !$0.isEmpty }
      }
      let read = try list(readTokens, "PERSISTENCE_READ_TOKENS")
      let write = try list(writeTokens, "PERSISTENCE_WRITE_TOKENS")
      guard !(read.isEmpty && write.isEmpty) else {
        throw ToolFailure.usage(
          "no token is given; write one into a file for --read-tokens or --write-tokens, or set "
            + "PERSISTENCE_READ_TOKENS or PERSISTENCE_WRITE_TOKENS, or say --without-tokens")
      }
      return try AccessTokens(read: read, write: write)
    }

    private var limits: ServerLimits {
      ServerLimits(
        bodySize: maxBody, pageSize: maxPage, defaultPageSize: min(100, maxPage), queryDepth: maxDepth,
        requestTime: .seconds(maxSeconds), connections: maxConnections)
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let (address, tokens) = (try address(), try tokens())
      let stores = ToolStores(session, isVerbose: common.verbose)
      return try stores.with(stores.openForWriting(url)) { store in
        var logger = Logger(label: "persistence.server") { _ in MessageLogHandler() }
        logger.logLevel = common.verbose ? .info : .error
        let server = StoreServer(store, tokens: tokens, limits: limits, logger: logger)
        // The tool's thread waits for what happens; the server has threads of its own.
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
            try session.say("serving \(store.location) on \(address.url(port: port))")
          }
          guard let result = ended.withLock(\.self) else { continue }
          try result.get()
          break
        }
        try? session.say("stopped")  // It has served and ended well, also where nobody listens any more.
        return .success
      }
    }
  }
#endif
