public import PersistenceDriver

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
