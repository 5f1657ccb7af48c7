#if HTTP
  import DataAccess
  public import PersistenceCore
  public import PersistenceDriver

  /// A server with data sources: its URL, a token and a connection pool, which its data sources share.
  ///
  /// ```swift
  /// let server = try RemoteServer("https://movies.example.com", token: token)
  /// let movies = server.dataSource(of: Movie.self)
  /// ```
  ///
  /// The pool closes when the server and its last data source are released.
  public final class RemoteServer: Sendable {
    let client: RemoteClient
    let mapping: RemoteMapping?

    /// Creates a server without connecting to it.
    ///
    /// - Parameters:
    ///   - url: The URL, such as `https://movies.example.com:8443/store`.
    ///   - token: The bearer token.
    ///   - mapping: The description of a third-party server; nil for a server of this package.
    ///   - options: Time limits, sizes and trust roots.
    ///   - monitoring: Where to log slow requests.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the URL is not that of a
    ///   server, if a token would travel in plain text to another machine without permission of the options, or if
    ///   the trust roots cannot be read.
    public convenience init(
      _ url: String, token: String? = nil, mapping: RemoteMapping? = nil,
      options: RemoteOptions = RemoteOptions(), monitoring: Monitoring = Monitoring()
    ) throws(PersistenceError) {
      if let token, !TokenCache.isValid(token) {
        throw PersistenceError(.invalidURL, "the token contains characters that a header cannot contain")
      }
      try self.init(
        url, tokens: token.map { .fixed($0) } ?? .none, mapping: mapping, options: options,
        monitoring: monitoring)
    }

    /// Creates a server whose tokens come from a provider, without connecting to it.
    ///
    /// The first request asks the provider for a token. Later ones ask again when the token expires, and once when the
    /// server answers 401; concurrent requests share the call. If the provider fails, requests throw
    /// ``PersistenceError/Code/unauthorized``, and an outbox waits. A provider that cannot reach its own server should throw
    /// a ``PersistenceError`` with code ``PersistenceError/Code/unreachable`` instead, so that layers answer from others.
    ///
    /// ```swift
    /// let server = try RemoteServer("https://movies.example.com") { rejected in
    ///   let session = try await login.session(refreshing: rejected != nil)
    ///   return RemoteToken(session.token, expires: session.expiration)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: The URL, such as `https://movies.example.com:8443/store`.
    ///   - mapping: The description of a third-party server; nil for a server of this package.
    ///   - options: Time limits, sizes and trust roots. The time limit of a request applies to the provider too.
    ///   - monitoring: Where to log slow requests.
    ///   - tokenProvider: Returns the current token. Its argument is the token that the server has rejected, or nil.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the URL is not that of a
    ///   server, or if tokens would travel in plain text to another machine without permission of the options.
    public convenience init(
      _ url: String, mapping: RemoteMapping? = nil, options: RemoteOptions = RemoteOptions(),
      monitoring: Monitoring = Monitoring(),
      tokenProvider: @escaping @Sendable (_ rejected: RemoteToken?) async throws -> RemoteToken
    ) throws(PersistenceError) {
      try self.init(
        url, tokens: .provider(TokenCache(tokenProvider)), mapping: mapping, options: options,
        monitoring: monitoring)
    }

    private init(
      _ url: String, tokens: RemoteClient.Tokens, mapping: RemoteMapping?, options: RemoteOptions,
      monitoring: Monitoring
    ) throws(PersistenceError) {
      let scheme = url.prefix { $0 != ":" }.lowercased()
      let rest = url.dropFirst(scheme.utf8.count)
      guard scheme == "http" || scheme == "https", rest.hasPrefix("://"), rest.utf8.count > 3,
        url.utf8.allSatisfy({ $0 > 32 && $0 < 127 }), !url.contains("?"), !url.contains("#"),
        !url.contains("@")
      else {
        throw PersistenceError(
          .invalidURL,
          "“\(StoreURL.redacted(url))” is not the URL of a server; use a form like https://example.com:8443")
      }
      let hasToken = if case .none = tokens { false } else { true }
      guard options.trustRoots == nil || scheme == "https" else {
        throw PersistenceError(
          .invalidURL, "trust roots (option trustroots) are for TLS, and “\(url)” is not; use https:")
      }
      guard !hasToken || scheme == "https" || options.sendsTokenInPlainText || Self.isThisMachine(rest)
      else {
        throw PersistenceError(
          .invalidURL,
          "the token would go to “\(url)” in plain text; use https:, or set sendsTokenInPlainText (option plaintext) "
            + "for a private connection")
      }
      self.mapping = mapping
      client = try RemoteClient(base: url, tokens: tokens, options: options, monitoring: monitoring)
    }

    /// The data source of one kind of object.
    ///
    /// - Parameter type: The type of the objects.
    /// - Returns: A data source. All data sources of one type share the same objects.
    public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> RemoteDataSource<Object> {
      RemoteDataSource(self)
    }

    /// Whether the host is this machine, judged without a name look-up.
    private static func isThisMachine(_ rest: Substring) -> Bool {
      let authority = rest.dropFirst(3).prefix { $0 != "/" }
      if authority == "[::1]" || authority.hasPrefix("[::1]:") { return true }
      let host = authority.prefix { $0 != ":" }
      let parts = host.split(separator: ".", omittingEmptySubsequences: false)
      return host.lowercased() == "localhost"
        || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil })
    }
  }

  /// The options of a client.
  public struct RemoteOptions: Sendable, Hashable {
    /// The time limit for connecting.
    public var connectTime: Duration
    /// The time limit of a request and its answer, unless the answer is streamed.
    public var requestTime: Duration
    /// The time limit between two parts of a streamed answer.
    public var readTime: Duration
    /// The maximum number of pooled connections.
    public var connections: Int
    /// The maximum size in bytes of an answer that is not streamed, and of a line of one that is.
    public var answerSize: Int

    /// Whether to send the token by `http:` to another machine.
    ///
    /// Allow it only over a private connection, such as a tunnel.
    public var sendsTokenInPlainText: Bool
    /// The path of a PEM file with the certificates of the only trusted issuers; nil for those of the system.
    ///
    /// The opening of a server reads it. Its certificate is always verified; no option turns that off.
    public var trustRoots: String?

    /// Creates options.
    public init(
      connectTime: Duration = .seconds(10), requestTime: Duration = .seconds(30),
      readTime: Duration = .seconds(60), connections: Int = 8, answerSize: Int = 64 << 20,
      sendsTokenInPlainText: Bool = false, trustRoots: String? = nil
    ) {
      self.connectTime = connectTime
      self.requestTime = requestTime
      self.readTime = readTime
      self.connections = max(1, connections)
      self.answerSize = answerSize
      self.sendsTokenInPlainText = sendsTokenInPlainText
      self.trustRoots = trustRoots
    }
  }
#endif
