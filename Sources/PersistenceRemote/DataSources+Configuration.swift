#if HTTP
  public import Configuration
  import PersistenceConfiguration
  public import PersistenceDriver

  extension DataSources {
    /// Opens the data sources of the engine or server at a configured URL.
    ///
    /// - Parameters:
    ///   - configuration: The configuration that holds the URL. It reads the URL as a secret.
    ///   - key: The key of the URL.
    ///   - engines: The engines that the URL may name; `memory:` and servers are always allowed.
    ///   - tokenSources: The environment variables and files that the URL may name for its token; by default, the
    ///     variable `PERSISTENCE_TOKEN` alone.
    ///   - monitoring: What to log. A server logs slow requests.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the URL is missing or
    ///   has an unknown scheme, option or value; and errors of opening.
    public init(
      configuration: ConfigReader, key: ConfigKey = "persistence.url", engines: [StorageEngine],
      tokenSources: TokenSources = TokenSources(), monitoring: Monitoring = Monitoring()
    ) throws {
      let url = try configuration.storeURL(
        forKey: key, examples: "sqlite:app.sqlite or https://example.com")
      try self.init(opening: url, engines: engines, tokenSources: tokenSources, monitoring: monitoring)
    }
  }
#endif
