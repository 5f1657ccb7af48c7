import PersistenceDriver
import PersistenceDriverSupport

/// Reads the rows of pages, and evaluates the residual.
final class PostgresRowReader {
  private let columns: PostgresColumns
  private let residual: CompiledPredicate?
  private let model: PostgresModel
  private let row: RowBuffer
  /// The row with the model's positions, as the residual sees it; nil where these are the columns.
  private let whole: RowBuffer?

  init(_ query: PostgresQuery, _ columns: PostgresColumns) {
    self.columns = columns
    residual = query.residual
    model = query.model
    row = RowBuffer(count: columns.readers.count)
    let isWhole = columns.positions == Array(model.schema.fields.indices)
    whole = residual == nil || isWhole ? nil : RowBuffer(count: model.schema.fields.count)
  }

  /// Calls a closure with a row of a page; returns false if the residual excludes it.
  func read(_ page: PostgresResult, _ number: Int, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    do {
      try page.fill(row, row: number, columns)
    } catch let error as PersistenceError {
      throw error.at(model: model.schema.name)
    }
    if let residual {
      if let whole {
        for (column, position) in columns.positions.enumerated() {
          row.withRow { whole.setCell($0[column], at: position) }
        }
      }
      guard try (whole ?? row).withRow({ try residual.matches($0) }) else { return false }
    }
    let cells = UnsafeBufferPointer(start: UnsafePointer(row.storage), count: columns.selectedCount)
    try body(Row(cells: cells))
    return true
  }
}
