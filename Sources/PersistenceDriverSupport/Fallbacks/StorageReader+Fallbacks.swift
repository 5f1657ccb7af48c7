import PersistencePrimitives
import PersistenceDriver

// Named fallbacks for requirements of `StorageReader`, which an engine without a native implementation calls.
extension StorageReader {
  /// Finds a model's schema in the whole catalog, comparing names by their bytes.
  ///
  /// - Parameter name: The model's name.
  /// - Returns: The schema; nil if the catalog has none of that name.
  /// - Throws: ``PersistenceError`` if the catalog cannot be read.
  /// - Complexity: Linear in the number of models.
  public func schemaFromCatalog(named name: String) throws -> ModelSchema? {
    let name = StoredName(name)
    return try catalog().first { StoredName($0.name) == name }
  }

  /// Fetches whole rows, and reduces each to the selected fields when it is read.
  ///
  /// - Parameters:
  ///   - request: The rows to fetch.
  ///   - positions: The positions of the selected fields, in their order.
  /// - Returns: The rows, with the selected fields only.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/invalidRequest`` if a position has no field.
  public func fetchWholeRows(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults
  {
    try request.schema.requirePositions(positions)
    return SelectedResults(try fetch(request), positions: positions)
  }

  /// Aggregates by reading every row of the request once, without keeping any.
  ///
  /// - Parameter request: The aggregates to compute.
  /// - Returns: The groups, in ascending order of their keys.
  /// - Throws: ``PersistenceError``.
  public func aggregateByScanning(_ request: AggregateRequest) throws -> [AggregateGroup] {
    var fold = try AggregateFold(request)
    _ = try fetch(request.rows).read(from: 0, limit: Int.max) { try fold.add($0) }
    return try fold.groups()
  }

  /// Plans a selection as a fetch of whole rows.
  ///
  /// - Parameters:
  ///   - request: The rows to fetch.
  ///   - positions: The positions of the selected fields.
  /// - Returns: The plan for whole rows.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/invalidRequest`` if a position has no field.
  public func planForWholeRows(_ request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try request.schema.requirePositions(positions)
    return try plan(for: request)
  }
}

extension ModelSchema {
  /// Checks that every position has a field.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest``.
  public func requirePositions(_ positions: [Int]) throws {
    for position in positions where !fields.indices.contains(position) {
      throw PersistenceError.invalidRequest("\(name) has no field number \(position)")
    }
  }
}
