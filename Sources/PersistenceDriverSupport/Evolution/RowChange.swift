package import PersistenceDriver

/// Makes the rows of a changed schema from stored rows, one at a time.
///
/// A value that does not change is borrowed from the stored row, so a made row is valid only as long as that one.
package final class RowChange {
  private enum Origin {
    /// The value of a stored field, by its position.
    case stored(Int)
    case constant
    case computed
  }

  /// The origins of the fields, with their target positions.
  private let origins: [(position: Int, origin: Origin)]
  private let computed: ComputedFields
  /// The fills, and the values that replace nil, by target position.
  private let constants: RowBuffer
  private let row: RowBuffer

  /// Creates the rows of a change, with all fields or only those from some target position on; the others are nil.
  package init(_ change: SchemaChange, from first: Int = 0) {
    computed = ComputedFields(change)
    constants = RowBuffer(count: change.sources.count)
    row = RowBuffer(count: change.sources.count)
    var origins: [(Int, Origin)] = []
    for (position, source) in change.sources.enumerated().dropFirst(first) {
      switch source {
      case .field(let origin, let replacement):
        origins.append((position, .stored(origin)))
        constants.set(replacement?.normalized ?? .null, at: position)
      case .fill(let value):
        origins.append((position, .constant))
        constants.set(value.normalized, at: position)
      case .computed: origins.append((position, .computed))
      }
    }
    self.origins = origins
  }

  /// Calls a closure with the changed row of a stored one.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if a computed value does not have
  ///   its field's kind, the error of the computation, and that of the closure.
  package func withRow<Result>(
    from stored: borrowing Row, _ body: (borrowing Row) throws -> Result
  ) throws -> Result {
    let values = try computed.compute(from: stored)
    var next = 0
    for (position, origin) in origins {
      switch origin {
      case .stored(let origin):
        let cell = try stored.field(at: origin)
        row.setCell(cell.isNull ? constants.storage[position] : cell, at: position)
      case .constant: row.setCell(constants.storage[position], at: position)
      case .computed:
        row.setCell(values[next], at: position)
        next += 1
      }
    }
    return try row.withRow(body)
  }
}
