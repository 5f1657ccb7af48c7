/// Translates statement keys to SQL text, for one table and one dialect.
///
/// It needs neither a connection nor values, so the text of a key can be cached.
package struct SQLQueryTranslator {
  let dialect: any SQLDialect
  let table: SQLTable
  var parameters = 0

  /// The ascending and descending fields of the order whose range the seek already bounds at the start.
  ///
  /// If the condition bounded the same end, the database might start every page at the beginning of the range. That
  /// bound is true for all rows after the seek, so it is written without the index.
  var ascending: Set<Int> = []
  var descending: Set<Int> = []

  /// The text of a statement.
  package static func text(of key: StatementKey, on table: SQLTable, _ dialect: any SQLDialect) -> String {
    var translator = SQLQueryTranslator(dialect: dialect, table: table)
    return translator.text(of: key)
  }

  private mutating func text(of key: StatementKey) -> String {
    switch key.kind {
    case .rows: return rowsOfKeys(key) ?? select(fields(key), key)
    case .orderKeys: return select(list(key.order.map { $0.position }), key)
    case .rowIDs: return select(locator, key)
    case .count: return "SELECT count(*) FROM \(name)" + condition(key)
    case .countUpTo:
      let rows = "SELECT 1 FROM \(name)\(condition(key)) LIMIT \(parameter())"
      return "SELECT count(*) FROM " + dialect.derivedTable(rows)
    case .aggregates: return aggregates(key, of: name + condition(key))
    case .aggregatesOfPage:
      // Translate the inner statement first: it has all parameters. It yields bare columns, which the outer one
      // turns into values.
      let rows = select(targets(fields(of: key)), key)
      return aggregates(key, of: dialect.derivedTable(rows))
    case .delete: return "DELETE FROM \(name)" + condition(key)
    case .deletePage: return "DELETE FROM \(name)" + isOnPage(key)
    case .set: return "UPDATE \(abortClause)\(name) SET \(assignments(key))" + condition(key)
    case .setPage: return "UPDATE \(abortClause)\(name) SET \(assignments(key))" + isOnPage(key)
    case .find: return "SELECT \(list(table.columns.indices)) FROM \(name)" + byKey()
    case .rowByID:
      let rows = "SELECT \(fields(key)) FROM \(name)"
      guard table.rowID != nil else { return rows + byKey() }
      return rows + " WHERE \(locator) = \(parameter())"
    case .insert: return insert()
    case .insertIfAbsent: return insert() + " ON CONFLICT DO NOTHING"
    case .update: return update()
    case .save: return save()
    case .deleteKey: return "DELETE FROM \(name)" + byKey()
    case .deleteAll: return "DELETE FROM \(name)"
    case .holder: return holder(ofIndex: key.argument)
    }
  }

  var name: String { dialect.table(table.name) }

  /// The clause that makes a conflict fail despite the table's own conflict clauses (contract W4).
  var abortClause: String { table.hasConflictClauses ? dialect.abortClause + " " : "" }

  /// A column as a result.
  func column(_ position: Int) -> String { dialect.value(table.columns[position]) }

  /// A column as the target of an assignment.
  func target(_ position: Int) -> String { dialect.identifier(table.columns[position].name) }

  func list(_ positions: some Sequence<Int>) -> String { positions.map(column).joined(separator: ", ") }

  private func fields(_ key: StatementKey) -> String {
    let items = key.items
    return items.isEmpty ? list(table.columns.indices) : list(items.map { $0.position })
  }

  /// The row ID, or the key where rows have no IDs.
  private var locator: String { table.rowID ?? list(table.key) }

  /// The condition that a row belongs to a page.
  private mutating func isOnPage(_ key: StatementKey) -> String {
    let rows = select(locator, key)
    return " WHERE \(table.rowID == nil ? "(\(locator))" : locator) IN (\(rows))"
  }

  private mutating func assignments(_ key: StatementKey) -> String {
    key.items.map { "\(target($0.position)) = \(parameter())" }.joined(separator: ", ")
  }

  /// The next parameter as an operand of a comparison with a column.
  mutating func operand(of position: Int) -> String {
    dialect.operand(parameter(), of: table.columns[position].kind)
  }

  mutating func parameter() -> String {
    parameters += 1
    return dialect.parameter(parameters)
  }

  mutating func select(_ what: String, _ key: StatementKey) -> String {
    // The condition has the first parameters.
    let text = "SELECT \(what) FROM \(name)" + condition(key) + order(key)
    return text + page(key)
  }

  /// The statement for the records of an ascending list of keys: a seek for each, in the order of the list.
  ///
  /// - Returns: nil for other requests, and where the database has no such statement.
  private mutating func rowsOfKeys(_ key: StatementKey) -> String? {
    let (predicate, order) = (key.predicate, key.order)
    guard predicate.count == 1, predicate[0].operation == .isIn, predicate[0].other == 1, key.seek.isEmpty,
      table.key == [predicate[0].field], order.count == 1, order[0] == (table.key[0], false),
      table.columns[table.key[0]].comparison == .plain
    else { return nil }
    guard let rows = dialect.join(table, withList: dialect.parameter(1)) else { return nil }
    parameters = 1
    return "SELECT \(fields(key)) FROM \(rows)" + page(key)
  }

  private mutating func page(_ key: StatementKey) -> String {
    var text = ""
    if key.page.contains(.limit) { text += " LIMIT \(parameter())" }
    if key.page.contains(.offset) { text += " OFFSET \(parameter())" }
    return text
  }

  private func order(_ key: StatementKey) -> String {
    let criteria = key.order.map {
      dialect.criterion(
        orderKey($0.position), of: table.columns[$0.position], isDescending: $0.isDescending)
    }
    return criteria.isEmpty ? "" : " ORDER BY " + criteria.joined(separator: ", ")
  }

  private mutating func condition(_ key: StatementKey) -> String {
    var parts: [String] = []
    for (number, opcodes) in [key.predicate, key.seek].enumerated() where !opcodes.isEmpty {
      let isBounded = number == 0 && !key.seek.isEmpty
      ascending = isBounded ? Set(key.order.filter { !$0.isDescending }.map { $0.position }) : []
      descending = isBounded ? Set(key.order.filter { $0.isDescending }.map { $0.position }) : []
      if opcodes.count == 1, opcodes[0].operation == .always { continue }
      var index = 0
      parts.append(condition(opcodes, &index, isInGroup: false))
    }
    guard !parts.isEmpty else { return "" }
    return " WHERE " + (parts.count == 1 ? parts[0] : parts.map { "(\($0))" }.joined(separator: " AND "))
  }
}

extension SQLQueryTranslator {
  /// The fields that aggregates read, without duplicates.
  func fields(of key: StatementKey) -> [Int] {
    let positions = key.items.filter { $0.operation != .count }.map { $0.position }
    return positions.isEmpty ? [table.key[0]] : Set(positions).sorted()
  }

  /// A statement over rows that yields one row for each group, in the order of the groups.
  func aggregates(_ key: StatementKey, of rows: String) -> String {
    let positions = key.items.filter { $0.operation == .field }.map { $0.position }
    let text = "SELECT \(key.items.map(expression).joined(separator: ", ")) FROM \(rows)"
    guard !positions.isEmpty else { return text }
    let groups = positions.map(orderKey).joined(separator: ", ")
    let order = positions.map {
      dialect.criterion(orderKey($0), of: table.columns[$0], isDescending: false)
    }
    return text + " GROUP BY \(groups) ORDER BY \(order.joined(separator: ", "))"
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

  /// The expression that compares a column in the contract's order.
  func orderKey(_ position: Int) -> String {
    let column = table.columns[position]
    return dialect.orderKey(dialect.compared(column), of: column.kind)
  }
}

/// Statements over one record. Those that write have a parameter for each field, in the order of the fields.
extension SQLQueryTranslator {
  mutating func byKey() -> String {
    let parts = table.key.map { position in
      let value = operand(of: position)
      return equality(of: position, value)
    }
    return " WHERE " + parts.joined(separator: " AND ")
  }

  func insert() -> String {
    let values = table.columns.indices.map { dialect.parameter($0 + 1) }
    return "INSERT \(abortClause)INTO \(name) (\(targets(table.columns.indices))) "
      + "VALUES (\(values.joined(separator: ", ")))"
  }

  func save() -> String {
    let changes = nonKeyColumns.map { "\(target($0)) = excluded.\(target($0))" }
    return insert() + " ON CONFLICT (\(targets(table.key))) DO "
      + (changes.isEmpty ? "NOTHING" : "UPDATE SET " + changes.joined(separator: ", "))
  }

  func update() -> String {
    // A record that has only key fields is set to itself, so that SQLite counts it.
    let changed = nonKeyColumns.isEmpty ? table.key : nonKeyColumns
    let changes = changed.map { "\(target($0)) = \(dialect.parameter($0 + 1))" }
    let key = table.key.map { equality(of: $0, dialect.parameter($0 + 1)) }
    return "UPDATE \(abortClause)\(name) SET \(changes.joined(separator: ", ")) "
      + "WHERE \(key.joined(separator: " AND "))"
  }

  /// The condition that a key column has a value.
  ///
  /// The key's index has the column's own collation, by which equal bytes are equal too, so that it finds the row.
  private func equality(of position: Int, _ operand: String) -> String {
    let column = table.columns[position]
    let isSame = "\(dialect.compared(column)) = \(operand)"
    guard column.comparison == .byBytes else { return isSame }
    return "\(dialect.identifier(column.name)) = \(operand) AND \(isSame)"
  }

  mutating func holder(ofIndex index: Int) -> String {
    let values = table.indexes[index].map { "\(column($0)) = \(operand(of: $0))" }
    return "SELECT \(list(table.key)) FROM \(name) WHERE \(values.joined(separator: " AND ")) LIMIT 1"
  }

  func targets(_ positions: some Sequence<Int>) -> String { positions.map(target).joined(separator: ", ") }

  private var nonKeyColumns: [Int] { table.columns.indices.filter { !table.key.contains($0) } }
}
