import DataAccess
public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// A server that stores are asked of: its URL, a token and connections, which all of its stores share.
///
/// ```swift
/// let server = try RemoteServer("https://movies.example.com", token: token)
/// let movies = server.dataSource(of: Movie.self)
/// ```
///
/// Connections are kept open and used again; releasing the last store and the server closes them.
public final class RemoteServer: Sendable {
  let client: RemoteClient
  let mapping: RemoteMapping?
  private let checked = Mutex<[StoredName: [ModelSchema]]>([:])

  /// Names a server; nothing is sent before it is asked.
  ///
  /// - Parameters:
  ///   - url: Where it is, such as `https://movies.example.com:8443/store`.
  ///   - token: The bearer token that it is shown.
  ///   - mapping: How it is spoken with; nil for a server of this package.
  ///   - options: Times and limits.
  ///   - monitoring: Where slow requests are reported.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where the URL is none of a server,
  ///   or a token would go over a line that others can read: to another machine by `http:`, where the options do not
  ///   allow that.
  public init(
    _ url: String, token: String? = nil, mapping: RemoteMapping? = nil,
    options: RemoteOptions = RemoteOptions(), monitoring: Monitoring = Monitoring()
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
    guard token == nil || scheme == "https" || options.sendsTokenInPlainText || Self.isThisMachine(rest)
    else {
      throw PersistenceError(
        .invalidURL,
        "the token would go to “\(url)” over a line that others can read; use https:, or say in the options "
          + "that the line is private")
    }
    self.mapping = mapping
    client = RemoteClient(base: url, token: token, options: options, monitoring: monitoring)
  }

  /// The objects of one kind that the server has.
  ///
  /// - Parameter type: What is kept.
  /// - Returns: A store; several of the same kind are one.
  public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> RemoteDataSource<Object> {
    RemoteDataSource(self)
  }

  /// Whether this declaration of a model has been compared with the server's.
  func isChecked(_ schema: ModelSchema) -> Bool {
    checked.withLock { $0[StoredName(schema.name)]?.contains(schema) ?? false }
  }

  func note(checked schema: ModelSchema) {
    checked.withLock { checked in
      let known = checked[StoredName(schema.name)] ?? []
      if !known.contains(schema) { checked[StoredName(schema.name)] = known + [schema] }
    }
  }

  /// Whether what stands after a URL's scheme names this machine, by its form alone: names are not looked up.
  private static func isThisMachine(_ rest: Substring) -> Bool {
    let place = rest.dropFirst(3).prefix { $0 != "/" }
    if place == "[::1]" || place.hasPrefix("[::1]:") { return true }
    let host = place.prefix { $0 != ":" }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return host.lowercased() == "localhost"
      || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil })
  }
}
