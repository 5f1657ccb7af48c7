#if HTTP
  public import DataAccess
  public import PersistenceCore
  public import PersistenceDriver

  /// The data sources at a URL, of a local engine or a server.
  ///
  /// ```swift
  /// let sources = try DataSources(opening: url, engines: [.sqlite, .lmdb])   // sqlite:movies.sqlite or https://…
  /// let movies = sources.dataSource(of: Movie.self)
  /// ```
  public struct DataSources: Sendable {
    private enum Backend {
      case repository(any PersistentRepository)
      case server(RemoteServer)
    }

    private let backend: Backend

    /// Opens the data sources at a URL.
    ///
    /// A server's URL starts with `https:` or `http:`. Its options are `tokenfile` or `tokenenv` for the bearer
    /// token, `trustroots` for a PEM file of the only trusted issuers, `timeout` and `connecttimeout`, such as `10s`, and
    /// `plaintext=true`, which allows sending the token to another machine by `http:`.
    ///
    /// - Parameters:
    ///   - url: `scheme:path?option=value&…`.
    ///   - engines: The engines that the URL may name; `memory:` and servers are always allowed.
    ///   - tokenSources: The environment variables and files that the URL may name for its token; by default, the variable
    ///     `PERSISTENCE_TOKEN` alone.
    ///   - monitoring: What to log. A server logs slow requests.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the scheme, an option or
    ///   a value is unknown, or the token's place is not allowed; and errors of opening.
    public init(
      opening url: String, engines: [StorageEngine], tokenSources: TokenSources = TokenSources(),
      monitoring: Monitoring = Monitoring()
    ) throws {
      let parsed = try StoreURL(url)
      guard parsed.scheme == "https" || parsed.scheme == "http" else {
        backend = .repository(try Repository(opening: url, engines: engines, monitoring: monitoring))
        return
      }
      let options = try StoreOptions(parsed, known: Self.serverOptions)
      var remote = RemoteOptions()
      if let time = options.duration("timeout") { remote.requestTime = time }
      if let time = options.duration("connecttimeout") { remote.connectTime = time }
      remote.sendsTokenInPlainText = options.flag("plaintext") ?? false
      remote.trustRoots = options["trustroots"]
      let base = String(url.prefix { $0 != "?" })
      backend = .server(
        try RemoteServer(
          base, token: try tokenSources.token(options, of: url), options: remote, monitoring: monitoring))
    }

    /// Creates the data sources of an open repository.
    public init(_ repository: any PersistentRepository) { backend = .repository(repository) }

    /// Creates the data sources of a server.
    public init(_ server: RemoteServer) { backend = .server(server) }

    /// The data source of one kind of object.
    ///
    /// - Parameter type: The type of the objects.
    /// - Returns: A data source. All data sources of one type share the same objects.
    public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> any DataSource<Object> {
      switch backend {
      case .repository(let repository): repository.dataSource(of: type)
      case .server(let server): server.dataSource(of: type)
      }
    }

    /// The repository, if the URL names an engine: for operations that need a context.
    public var repository: (any PersistentRepository)? {
      if case .repository(let repository) = backend { repository } else { nil }
    }

    private static let serverOptions = [
      StoreOption("tokenfile", .text, "the file that holds the bearer token"),
      StoreOption("tokenenv", .text, "the environment variable that holds the bearer token"),
      StoreOption(
        "trustroots", .text, "the PEM file of the only trusted issuers of the server's certificate"),
      StoreOption("plaintext", .flag, "whether to send the token to another machine by http:"),
      StoreOption("timeout", .duration, "the time limit of a request"),
      StoreOption("connecttimeout", .duration, "the time limit for connecting"),
    ]
  }
#endif
