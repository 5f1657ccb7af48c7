extension StorageReader {
  /// Computes by looking at every row of the request: what an engine does that cannot do better.
  ///
  /// - Parameter request: What is computed.
  /// - Returns: The groups, in ascending order of their keys.
  /// - Throws: ``PersistenceError``.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    var fold = try AggregateFold(request)
    _ = try fetch(request.rows).read(from: 0, limit: Int.max) { try fold.add($0) }
    return try fold.groups()
  }
}
