#if Configuration
  package import Configuration
  import PersistenceDriver

  extension ConfigReader {
    /// The URL of the store that a configuration names, read as a secret, since URLs may hold passwords.
    ///
    /// - Parameters:
    ///   - key: The key of the URL.
    ///   - examples: What it could be, for the message where there is none.
    /// - Returns: The URL.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the configuration holds none.
    package func storeURL(forKey key: ConfigKey, examples: String) throws -> String {
      do {
        return try requiredString(forKey: key, isSecret: true)
      } catch {
        throw PersistenceError(
          .invalidURL,
          "the configuration names no store under “\(key)”: \(error); set it to a URL such as \(examples)")
      }
    }
  }
#endif
