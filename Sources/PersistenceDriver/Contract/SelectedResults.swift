/// Results whose rows are cut to some fields.
final class SelectedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let positions: [Int]

  init(_ wrapped: any StorageResults, positions: [Int]) {
    self.wrapped = wrapped
    self.positions = positions
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let selected = RowBuffer(count: positions.count)
    return try wrapped.read(from: offset, limit: limit) { row in
      for (place, position) in positions.enumerated() { selected.setCell(row[position], at: place) }
      try selected.withRow(body)
    }
  }
}

extension StorageReader {
  /// Fetches whole rows and cuts them: what an engine does that cannot do better.
  ///
  /// - Parameters:
  ///   - request: Which rows.
  ///   - positions: The positions of the fields that the rows have.
  /// - Returns: The rows.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/invalidRequest`` where a position is no field's.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return SelectedResults(try fetch(request), positions: positions)
  }
}

extension ModelSchema {
  /// Makes sure that fields stand at these positions.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest``.
  public func requirePositions(_ positions: [Int]) throws {
    for position in positions where !fields.indices.contains(position) {
      throw PersistenceError.invalidRequest("\(name) has no field number \(position)")
    }
  }
}
