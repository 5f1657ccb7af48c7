import PersistenceDriver

/// Lends some fields of rows, in the order that was asked for.
struct SelectedFields {
  private let positions: [Int]
  private let isCopying: Bool
  private let selected: RowBuffer

  /// - Parameters:
  ///   - positions: The fields; one may stand twice.
  ///   - isCopying: Whether the bytes may move while they are lent.
  init(_ positions: [Int], copying isCopying: Bool) {
    self.positions = positions
    self.isCopying = isCopying
    selected = RowBuffer(count: positions.count)
  }

  func lend(_ row: RowBuffer, _ body: (borrowing Row) throws -> Void) throws {
    if isCopying { selected.reset() }
    row.withRow { row in
      for (place, position) in positions.enumerated() {
        if isCopying {
          selected.setCopy(of: row[position], at: place)
        } else {
          selected.setCell(row[position], at: place)
        }
      }
    }
    try selected.withRow(body)
  }
}
