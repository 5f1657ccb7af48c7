import PersistenceDriver

/// Results around others, which change some of what they do and hand everything else on.
///
/// They hold the wrapped results, and so their snapshot, for as long as they live.
public protocol StorageResultsWrapper: StorageResults {
  /// The results that calls are handed on to.
  var wrapped: any StorageResults { get }
}

extension StorageResultsWrapper {
  /// Asks the wrapped results.
  public func count() throws -> Int { try wrapped.count() }

  /// Asks the wrapped results.
  public var usesRandomAccess: Bool { wrapped.usesRandomAccess }

  /// Asks the wrapped results.
  public func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try wrapped.read(from: offset, limit: limit, body)
  }
}
