/// Parts of statements over several rows: aggregates, the rows of listed keys, and changes of rows.
extension SQLQueryTranslator {
  /// Columns as results.
  func list(_ positions: some Sequence<Int>) -> String {
    // A text in one piece: `map` and `joined` would copy the translator, and each name twice.
    var text = ""
    for position in positions {
      if !text.isEmpty { text += ", " }
      text += column(position)
    }
    return text
  }

  /// The alias of a table named `excluded` in an insertion: after a conflict, SQL gives that name to the new row.
  var alias: String { table.name.lowercased() == "excluded" ? " AS " + dialect.identifier("stored") : "" }

  /// The fields that aggregates read, without duplicates.
  func fields(of key: StatementKey) -> [Int] {
    let positions = key.items.filter { $0.operation != .count }.map { $0.position }
    return positions.isEmpty ? [table.key[0]] : Set(positions).sorted()
  }

  /// A statement over rows that yields one row for each group, in the order of the groups.
  func aggregates(_ key: StatementKey, of rows: String) -> String {
    let positions = key.items.filter { $0.operation == .field }.map { $0.position }
    let names = positions.map { table.columns[$0].name }
    let text = "SELECT \(key.items.map { expression($0, amid: names) }.joined(separator: ", ")) FROM \(rows)"
    guard !positions.isEmpty else { return text }
    let groups = positions.map(orderKey).joined(separator: ", ")
    let order = positions.map {
      dialect.criterion(orderKey($0), of: table.columns[$0], isDescending: false)
    }
    return text + " GROUP BY \(groups) ORDER BY \(order.joined(separator: ", "))"
  }

  /// An aggregate or a field of a group.
  ///
  /// The result of a function has the function's name. PostgreSQL refuses to order by a column of the same name, unless the
  /// result has another one.
  private func expression(_ item: SQLItem, amid names: [String]) -> String {
    let (function, argument) =
      switch item.operation {
      case .field: ("", column(item.position))
      case .count: ("count", "*")
      case .countOfValues: ("count", column(item.position))
      case .minimum: ("min", dialect.ordered(table.columns[item.position]))
      case .maximum: ("max", dialect.ordered(table.columns[item.position]))
      case .sum: ("sum", column(item.position))
      }
    if function.isEmpty { return argument }
    let call = "\(dialect.function(function))(\(argument))"
    guard names.contains(function) else { return call }
    var name = function + "_"
    while names.contains(name) { name += "_" }
    return "\(call) AS \(name)"
  }

  /// The statement for the records of an ascending list of keys: a seek for each, in the order of the list.
  ///
  /// - Returns: nil for other requests, and where the database has no such statement.
  mutating func rowsOfKeys(_ key: StatementKey) -> String? {
    let (predicate, order) = (key.predicate, key.order)
    guard predicate.count == 1, predicate[0].operation == .isIn, predicate[0].other == 1, key.seek.isEmpty,
      table.key == [predicate[0].field], order.count == 1, order[0] == (table.key[0], false),
      table.columns[table.key[0]].comparison == .plain
    else { return nil }
    guard let rows = dialect.join(table, withList: dialect.parameter(1)) else { return nil }
    parameters = 1
    return "SELECT \(fields(key)) FROM \(rows)" + page(key)
  }

  /// The condition that a row belongs to a page.
  mutating func isOnPage(_ key: StatementKey) -> String {
    let rows = select(locator, key)
    return " WHERE \(table.rowID == nil ? "(\(locator))" : locator) IN (\(rows))"
  }

  mutating func assignments(_ key: StatementKey) -> String {
    key.items.map { item in
      "\(target(item.position)) = \(dialect.assigned(parameter(), to: table.columns[item.position]))"
    }.joined(separator: ", ")
  }
}
