#if Configuration
  public import Configuration
  public import PersistenceCore
  public import PersistenceDriver

  extension Repository {
    /// Opens the store that a configuration names: in the environment, in a file, wherever its providers look.
    ///
    /// ```swift
    /// let configuration = ConfigReader(providers: [
    ///   EnvironmentVariablesProvider(),                            // PERSISTENCE_URL
    ///   try await FileProvider<JSONSnapshot>(filePath: "app.json"),  // { "persistence": { "url": "…" } }
    /// ])
    /// let repository = try Repository(configuration: configuration, engines: [.sqlite, .lmdb])
    /// ```
    ///
    /// - Parameters:
    ///   - configuration: Where the URL is looked up. It is read as a secret, since URLs may hold passwords.
    ///   - key: The key of the URL.
    ///   - engines: The engines that the URL may name; `memory:` is always available.
    ///   - monitoring: The settings of the context's monitor.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the configuration holds
    ///   no URL, or one that names an unknown scheme, option or value; and whatever opening meets.
    public init(
      configuration: ConfigReader, key: ConfigKey = "persistence.url", engines: [StorageEngine],
      monitoring: Monitoring = Monitoring()
    ) throws {
      let url = try configuration.storeURL(forKey: key, examples: "sqlite:app.sqlite")
      try self.init(opening: url, engines: engines, monitoring: monitoring)
    }
  }
#endif
