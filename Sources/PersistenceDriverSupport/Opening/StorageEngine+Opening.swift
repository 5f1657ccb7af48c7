public import PersistenceDriver

extension StorageEngine {
  /// Opens the store with a URL, using one of the engines; `memory:` is always available.
  ///
  /// - Parameters:
  ///   - text: The URL, such as `sqlite:movies.sqlite?synchronous=full`.
  ///   - engines: The available engines.
  ///   - monitoring: The settings of the context's monitor.
  /// - Returns: The open context.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if no engine or several engines
  ///   have the scheme, and any error of opening the store.
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
        "no engine has the scheme “\(url.scheme):”; use one of "
          + known.map { $0.scheme + ":" }.sorted().joined(separator: ", "), location: "\(url)")
    }
    guard matches.count == 1 else {
      throw PersistenceError(
        .invalidURL, "several engines have the scheme “\(url.scheme):”; remove one of them",
        location: "\(url)")
    }
    return try engine.open(url, monitoring: monitoring)
  }
}
