package import PersistenceDriver

/// Results that reduce whole rows to the selected fields when they are read.
package final class SelectedResults: StorageResultsWrapper {
  package let wrapped: any StorageResults
  private let positions: [Int]

  package init(_ wrapped: any StorageResults, positions: [Int]) {
    self.wrapped = wrapped
    self.positions = positions
  }

  package func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let selected = RowBuffer(count: positions.count)
    return try wrapped.read(from: offset, limit: limit) { row in
      for (place, position) in positions.enumerated() {
        selected.setCell(try row.field(at: position), at: place)
      }
      try selected.withRow(body)
    }
  }
}
