/// A kind of store that a URL may name: an engine's scheme, its options, and how it is opened.
///
/// Every backend adds a static member of its own (`.sqlite`, `.lmdb`, `.json`), and so does a third party's.
public struct StorageEngine: Sendable {
  /// The scheme that names the engine, in lower case.
  public let scheme: String

  /// The options that its URLs may carry.
  public let options: [StoreOption]

  /// Whether a URL's path is that of a file or folder; not where it names a place on a server.
  public let hasFiles: Bool

  private let make: @Sendable (StoreURL, StoreOptions, Monitoring) throws -> any PersistentContext

  /// Declares an engine.
  ///
  /// - Parameters:
  ///   - scheme: The scheme, in lower case.
  ///   - options: The options that URLs may carry; others are refused before `open` is called.
  ///   - hasFiles: Whether a URL's path is that of a file or folder.
  ///   - open: Opens a store; the options have been checked.
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
  ///   - monitoring: What the context watches and where it reports.
  /// - Returns: The open context.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where an option or value is
  ///   unknown, and whatever opening meets.
  public func open(_ url: StoreURL, monitoring: Monitoring) throws -> any PersistentContext {
    try make(url, StoreOptions(url, known: options), monitoring)
  }
}
