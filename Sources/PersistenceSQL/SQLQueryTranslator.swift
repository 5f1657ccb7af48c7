/// Makes SQL text of shapes: for one table, in one dialect.
///
/// It opens nothing and knows no values. A shape decides its text, so the text is made once for each shape.
package struct SQLQueryTranslator {
  let dialect: any SQLDialect
  let table: SQLTable
  var parameters = 0

  /// The fields of the order, ascending and descending, whose other bound the place after which rows are wanted
  /// already is.
  ///
  /// A condition that is a bound at the same end, too, would let the database begin at either: at the range's
  /// beginning for every page, where it chose badly. It is true of all rows after the place, so it may go without
  /// the index.
  var ascending: Set<Int> = []
  var descending: Set<Int> = []

  package init(_ dialect: any SQLDialect, table: SQLTable) {
    self.dialect = dialect
    self.table = table
  }

  /// The text of a statement.
  package static func text(of shape: StatementKey, on table: SQLTable, _ dialect: any SQLDialect) -> String {
    var translator = SQLQueryTranslator(dialect, table: table)
    return translator.text(of: shape)
  }

  private mutating func text(of shape: StatementKey) -> String {
    switch shape.kind {
    case .rows: return select(fields(shape), shape)
    case .orderKeys: return select(list(shape.order.map { $0.position }), shape)
    case .locators: return select(locator, shape)
    case .count: return "SELECT count(*) FROM \(name)" + condition(shape)
    case .countUpTo:
      return "SELECT count(*) FROM (SELECT 1 FROM \(name)\(condition(shape)) LIMIT \(parameter()))"
    case .aggregates: return aggregates(shape, of: name + condition(shape))
    case .aggregatesOfChosen:
      // The text of the inner statement first, and with it its parameters: the outer has none.
      // It yields columns as they are, since the outer one makes values of them.
      let rows = select(places(fields(of: shape)), shape)
      return aggregates(shape, of: "(\(rows))")
    case .delete: return "DELETE FROM \(name)" + condition(shape)
    case .deleteChosen: return "DELETE FROM \(name)" + chosen(shape)
    case .set: return "UPDATE \(aborting)\(name) SET \(assignments(shape))" + condition(shape)
    case .setChosen: return "UPDATE \(aborting)\(name) SET \(assignments(shape))" + chosen(shape)
    case .find: return "SELECT \(list(table.columns.indices)) FROM \(name)" + byKey()
    case .rowAtLocator:
      let rows = "SELECT \(fields(shape)) FROM \(name)"
      guard table.rowNumber != nil else { return rows + byKey() }
      return rows + " WHERE \(locator) = \(parameter())"
    case .insert: return insert()
    case .update: return update()
    case .save: return save()
    case .deleteKey: return "DELETE FROM \(name)" + byKey()
    case .deleteAll: return "DELETE FROM \(name)"
    case .holder: return holder(ofIndex: shape.argument)
    }
  }

  var name: String { dialect.identifier(table.name) }

  /// What makes a writing statement refuse a conflict, where the table itself says otherwise (contract W4).
  var aborting: String { table.decidesConflicts ? dialect.aborting + " " : "" }

  /// A column where its values are read.
  func column(_ position: Int) -> String { dialect.value(table.columns[position]) }

  /// A column where values are written.
  func place(_ position: Int) -> String { dialect.identifier(table.columns[position].name) }

  func list(_ positions: some Sequence<Int>) -> String { positions.map(column).joined(separator: ", ") }

  /// The fields that a statement yields.
  private func fields(_ shape: StatementKey) -> String {
    let items = shape.items
    return items.isEmpty ? list(table.columns.indices) : list(items.map { $0.position })
  }

  /// What a row is found again by.
  private var locator: String { table.rowNumber ?? list(table.key) }

  /// The condition that a row is one of a page.
  private mutating func chosen(_ shape: StatementKey) -> String {
    let rows = select(locator, shape)
    return " WHERE \(table.rowNumber == nil ? "(\(locator))" : locator) IN (\(rows))"
  }

  private mutating func assignments(_ shape: StatementKey) -> String {
    shape.items.map { "\(place($0.position)) = \(parameter())" }.joined(separator: ", ")
  }

  mutating func parameter() -> String {
    parameters += 1
    return dialect.parameter(parameters)
  }

  mutating func select(_ what: String, _ shape: StatementKey) -> String {
    var text = "SELECT \(what) FROM \(name)" + condition(shape) + order(shape)
    if shape.page.contains(.limit) { text += " LIMIT \(parameter())" }
    if shape.page.contains(.offset) { text += " OFFSET \(parameter())" }
    return text
  }

  private func order(_ shape: StatementKey) -> String {
    let criteria = shape.order.map { criterion in
      let column = table.columns[criterion.position]
      return dialect.criterion(
        dialect.orderKey(dialect.compared(column), of: column.kind), isDescending: criterion.isDescending)
    }
    return criteria.isEmpty ? "" : " ORDER BY " + criteria.joined(separator: ", ")
  }

  private mutating func condition(_ shape: StatementKey) -> String {
    var parts: [String] = []
    for (number, words) in [shape.predicate, shape.place].enumerated() where !words.isEmpty {
      let isBounded = number == 0 && !shape.place.isEmpty
      ascending = isBounded ? Set(shape.order.filter { !$0.isDescending }.map { $0.position }) : []
      descending = isBounded ? Set(shape.order.filter { $0.isDescending }.map { $0.position }) : []
      if words.count == 1, words[0].operation == .yes { continue }
      var index = 0
      parts.append(condition(words, &index, isInGroup: false))
    }
    guard !parts.isEmpty else { return "" }
    return " WHERE " + (parts.count == 1 ? parts[0] : parts.map { "(\($0))" }.joined(separator: " AND "))
  }
}
