public import DataAccess
import Foundation
public import PersistenceCore
public import PersistenceDriver

/// The stores behind a URL, whatever it names: an engine of this machine, or a server.
///
/// ```swift
/// let stores = try DataSources(opening: url, engines: [.sqlite, .lmdb])   // sqlite:movies.sqlite or https://…
/// let movies = stores.dataSource(of: Movie.self)
/// ```
public struct DataSources: Sendable {
  private enum Place {
    case repository(any PersistentRepository)
    case server(RemoteServer)
  }

  private let place: Place

  /// Opens the stores that a URL names.
  ///
  /// A server's URL begins with `https:` or `http:`, and may have the options `tokenfile` and `tokenenv`, which say where
  /// the bearer token is, `timeout` and `connecttimeout`, such as `10s`, and `plaintext=true`, which lets the token go to
  /// another machine by `http:`.
  ///
  /// - Parameters:
  ///   - url: `scheme:path?option=value&…`.
  ///   - engines: The engines that the URL may name; `memory:` and servers are always among them.
  ///   - monitoring: What is watched and where it is reported; of a server, slow requests.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where scheme, option or value is
  ///   unknown, and whatever opening meets.
  public init(opening url: String, engines: [StorageEngine], monitoring: Monitoring = Monitoring()) throws {
    let parsed = try StoreURL(url)
    guard parsed.scheme == "https" || parsed.scheme == "http" else {
      place = .repository(try Repository(opening: url, engines: engines, monitoring: monitoring))
      return
    }
    let options = try StoreOptions(parsed, known: Self.serverOptions)
    var remote = RemoteOptions()
    if let time = options.duration("timeout") { remote.requestTime = time }
    if let time = options.duration("connecttimeout") { remote.connectTime = time }
    remote.sendsTokenInPlainText = options.flag("plaintext") ?? false
    let base = String(url.prefix { $0 != "?" })
    place = .server(
      try RemoteServer(
        base, token: try Self.token(options, url), options: remote, monitoring: monitoring))
  }

  /// The stores of a repository that is open already.
  public init(_ repository: any PersistentRepository) { place = .repository(repository) }

  /// The stores of a server.
  public init(_ server: RemoteServer) { place = .server(server) }

  /// The objects of one kind.
  ///
  /// - Parameter type: What is kept.
  /// - Returns: A store; several of the same kind are one.
  public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> any DataSource<Object> {
    switch place {
    case .repository(let repository): repository.dataSource(of: type)
    case .server(let server): server.dataSource(of: type)
    }
  }

  /// The repository, where the URL names one: for what only contexts can do.
  public var repository: (any PersistentRepository)? {
    if case .repository(let repository) = place { repository } else { nil }
  }

  private static let serverOptions = [
    StoreOption("tokenfile", .text, "the file that holds the bearer token"),
    StoreOption("tokenenv", .text, "the environment variable that holds the bearer token"),
    StoreOption("plaintext", .flag, "whether the token may go to another machine by http:"),
    StoreOption("timeout", .duration, "how long a request may take"),
    StoreOption("connecttimeout", .duration, "how long it may take to be connected"),
  ]

  private static func token(_ options: StoreOptions, _ url: String) throws -> String? {
    func invalid(_ reason: String) -> PersistenceError {
      PersistenceError(.invalidURL, reason, location: StoreURL.redacted(url))
    }
    var token: String?
    if let variable = options["tokenenv"] {
      token = ProcessInfo.processInfo.environment[variable]
      guard token != nil else { throw invalid("the environment has no variable “\(variable)”") }
    }
    if let file = options["tokenfile"] {
      guard token == nil else { throw invalid("tokenfile and tokenenv exclude each other") }
      guard let data = FileManager.default.contents(atPath: file),
        let text = String(validating: data, as: UTF8.self)
      else { throw invalid("the token's file cannot be read") }
      token = text
    }
    return token?.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
