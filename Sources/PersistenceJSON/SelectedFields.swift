import PersistenceDriver

/// Results whose rows are cut to some fields.
final class SelectedFields: StorageResults {
  private let rows: JSONDirectoryResults
  private let positions: [Int]

  init(_ rows: JSONDirectoryResults, _ positions: [Int]) {
    self.rows = rows
    self.positions = positions
  }

  func count() throws -> Int { try rows.count() }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let selected = RowBuffer(count: positions.count)
    return try rows.read(from: offset, limit: limit) { row in
      for (place, position) in positions.enumerated() { selected.setCell(row[position], at: place) }
      try selected.withRow(body)
    }
  }
}
