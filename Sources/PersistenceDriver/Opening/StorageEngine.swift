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

extension StorageEngine {
  /// Opens the store that a URL names, with one of the engines given; `memory:` is always among them.
  ///
  /// - Parameters:
  ///   - text: The URL, such as `sqlite:movies.sqlite?synchronous=full`.
  ///   - engines: The engines that it may name.
  ///   - monitoring: What the context watches and where it reports.
  /// - Returns: The open context.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where the scheme is unknown
  ///   (the known ones are listed) or given by two engines, and whatever opening meets.
  public static func open(_ text: String, engines: [StorageEngine], monitoring: Monitoring) throws
    -> any PersistentContext
  {
    let url = try StoreURL(text)
    var known = engines
    if !known.contains(where: { $0.scheme == StorageEngine.memory.scheme }) { known.append(.memory) }
    let matches = known.filter { $0.scheme == url.scheme }
    guard let engine = matches.first else {
      throw PersistenceError(
        .invalidURL,
        "no engine is known by the scheme “\(url.scheme):”; the known ones are "
          + known.map { $0.scheme + ":" }.sorted().joined(separator: ", "), location: "\(url)")
    }
    guard matches.count == 1 else {
      throw PersistenceError(
        .invalidURL, "two engines were given for the scheme “\(url.scheme):”", location: "\(url)")
    }
    return try engine.open(url, monitoring: monitoring)
  }
}
