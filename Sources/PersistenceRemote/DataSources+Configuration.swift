public import Configuration
import PersistenceConfiguration
public import PersistenceDriver

extension DataSources {
  /// Opens the stores that a configuration names by a URL: of an engine here, or of a server.
  ///
  /// - Parameters:
  ///   - configuration: Where the URL is looked up. It is read as a secret.
  ///   - key: The key of the URL.
  ///   - engines: The engines that the URL may name; `memory:` and servers are always among them.
  ///   - monitoring: What is watched and where it is reported; of a server, slow requests.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where the configuration holds
  ///   no URL, or one that names an unknown scheme, option or value; and whatever opening meets.
  public init(
    configuration: ConfigReader, key: ConfigKey = "persistence.url", engines: [StorageEngine],
    monitoring: Monitoring = Monitoring()
  ) throws {
    let url = try configuration.storeURL(
      forKey: key, examples: "sqlite:app.sqlite or https://example.com")
    try self.init(opening: url, engines: engines, monitoring: monitoring)
  }
}
