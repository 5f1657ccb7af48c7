/// An engine that URLs can name: its scheme, its options, and a closure that opens a store.
///
/// Each engine adds a static member (`.sqlite`, `.lmdb`, `.json`). Third-party engines do the same.
public struct StorageEngine: Sendable {
  /// The URL scheme of the engine, in lower case.
  public let scheme: String

  /// The options that URLs of this scheme accept.
  public let options: [StoreOption]

  /// Whether a URL's path is a file or folder; false if it is a location on a server.
  public let hasFiles: Bool

  private let make: @Sendable (StoreURL, StoreOptions, Monitoring) throws -> any PersistentContext

  /// Declares an engine.
  ///
  /// - Parameters:
  ///   - scheme: The scheme, in lower case.
  ///   - options: The options that URLs accept; others are rejected before `open` is called.
  ///   - hasFiles: Whether a URL's path is a file or folder.
  ///   - open: Opens a store. Its options are validated.
  public init(
    scheme: String, options: [StoreOption], hasFiles: Bool = true,
    open: @escaping @Sendable (StoreURL, StoreOptions, Monitoring) throws -> any PersistentContext
  ) {
    self.scheme = scheme
    self.options = options
    self.hasFiles = hasFiles
    make = open
  }

  /// Opens a store.
  ///
  /// - Parameters:
  ///   - url: A URL of this engine's scheme.
  ///   - monitoring: The settings of the context's monitor.
  /// - Returns: The open context.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if an option or value is
  ///   invalid, and any error of opening the store.
  public func open(_ url: StoreURL, monitoring: Monitoring) throws -> any PersistentContext {
    try make(url, StoreOptions(url, known: options), monitoring)
  }
}
