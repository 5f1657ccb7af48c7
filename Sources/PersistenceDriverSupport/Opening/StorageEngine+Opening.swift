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
    let first = engines.firstIndex { $0.scheme == url.scheme }
    guard first == engines.lastIndex(where: { $0.scheme == url.scheme }) else {
      throw PersistenceError(
        .invalidURL, "several engines have the scheme “\(url.scheme):”; remove one of them",
        location: "\(url)")
    }
    if let first { return try engines[first].open(url, monitoring: monitoring) }
    if url.scheme == memory.scheme { return try memory.open(url, monitoring: monitoring) }
    let hasMemory = engines.contains { $0.scheme == memory.scheme }
    let known = hasMemory ? engines : engines + [.memory]
    throw PersistenceError(
      .invalidURL,
      "no engine has the scheme “\(url.scheme):”; use one of "
        + known.map { $0.scheme + ":" }.sorted().joined(separator: ", "), location: "\(url)")
  }
}
