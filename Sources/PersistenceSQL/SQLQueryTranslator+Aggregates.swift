/// Values computed over rows.
extension SQLQueryTranslator {
  /// The fields that aggregates read, each once.
  func fields(of shape: StatementKey) -> [Int] {
    let positions = shape.items.filter { $0.operation != .count }.map { $0.position }
    return positions.isEmpty ? [table.key[0]] : Set(positions).sorted()
  }

  /// Computes over rows, group by group, in the order of the groups.
  func aggregates(_ shape: StatementKey, of rows: String) -> String {
    let groups = shape.items.filter { $0.operation == .field }.map { orderKey($0.position) }
    let text = "SELECT \(shape.items.map(expression).joined(separator: ", ")) FROM \(rows)"
    guard !groups.isEmpty else { return text }
    let list = groups.joined(separator: ", ")
    return text + " GROUP BY \(list) ORDER BY \(list)"
  }

  private func expression(_ item: SQLItem) -> String {
    switch item.operation {
    case .field: column(item.position)
    case .count: "count(*)"
    case .countOfValues: "count(\(column(item.position)))"
    case .minimum: "min(\(dialect.compared(table.columns[item.position])))"
    case .maximum: "max(\(dialect.compared(table.columns[item.position])))"
    case .sum: "sum(\(column(item.position)))"
    }
  }

  private func orderKey(_ position: Int) -> String {
    let column = table.columns[position]
    return dialect.orderKey(dialect.compared(column), of: column.kind)
  }
}
