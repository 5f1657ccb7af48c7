import DataAccess
public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// A server that stores are asked of: its URL, a token and connections, which all of its stores share.
///
/// ```swift
/// let server = try RemoteServer("https://movies.example.com", token: token)
/// let movies = server.store(of: Movie.self)
/// ```
///
/// Connections are kept open and used again; releasing the last store and the server closes them.
public final class RemoteServer: Sendable {
  let client: RemoteClient
  let mapping: RemoteMapping?
  private let checked = Mutex<Set<StoredName>>([])

  /// Names a server; nothing is sent before it is asked.
  ///
  /// - Parameters:
  ///   - url: Where it is, such as `https://movies.example.com:8443/store`.
  ///   - token: The bearer token that it is shown.
  ///   - mapping: How it is spoken with; nil for a server of this package.
  ///   - options: Times and limits.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where the URL is none of a server,
  ///   or a token would go over a line that others can read.
  public init(
    _ url: String, token: String? = nil, mapping: RemoteMapping? = nil,
    options: RemoteOptions = RemoteOptions()
  ) throws(PersistenceError) {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    let rest = url.dropFirst(scheme.utf8.count)
    guard scheme == "http" || scheme == "https", rest.hasPrefix("://"), rest.utf8.count > 3,
      url.utf8.allSatisfy({ $0 > 32 && $0 < 127 }), !url.contains("?"), !url.contains("#"), !url.contains("@")
    else {
      throw PersistenceError(
        .invalidURL,
        "“\(StoreURL.redacted(url))” is no URL of a server; one looks like https://example.com:8443")
    }
    if let token, !token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) || token.isEmpty {
      throw PersistenceError(.invalidURL, "the token holds what a header cannot")
    }
    self.mapping = mapping
    client = RemoteClient(base: url, token: token, options: options)
  }

  /// The objects of one kind that the server has.
  ///
  /// - Parameter type: What is kept.
  /// - Returns: A store; several of the same kind are one.
  public func store<Object: PersistentRecord>(of type: Object.Type) -> RemoteStore<Object> {
    RemoteStore(self)
  }

  /// Whether the schema of a model has been compared with the server's.
  func isChecked(_ schema: ModelSchema) -> Bool {
    checked.withLock { $0.contains(StoredName(schema.name)) }
  }

  func note(checked schema: ModelSchema) {
    _ = checked.withLock { $0.insert(StoredName(schema.name)) }
  }
}
