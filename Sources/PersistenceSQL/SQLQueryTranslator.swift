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
    case .count: return "SELECT \(dialect.function("count"))(*) FROM \(name)" + condition(key)
    case .countUpTo:
      let rows = "SELECT 1 FROM \(name)\(condition(key)) LIMIT \(parameter())"
      return "SELECT \(dialect.function("count"))(*) FROM " + dialect.derivedTable(rows)
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

  /// The expression that compares a column in the contract's order.
  func orderKey(_ position: Int) -> String {
    let column = table.columns[position]
    return dialect.orderKey(dialect.ordered(column), of: column.kind)
  }

  /// A column as the target of an assignment.
  func target(_ position: Int) -> String { dialect.identifier(table.columns[position].name) }

  func fields(_ key: StatementKey) -> String {
    let items = key.items
    return items.isEmpty ? list(table.columns.indices) : list(items.map { $0.position })
  }

  /// The row ID, or the key where rows have no IDs.
  var locator: String { table.rowID ?? list(table.key) }

  /// The next parameter as an operand of a comparison with a column.
  mutating func operand(of position: Int) -> String {
    dialect.operand(parameter(), of: table.columns[position])
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

  mutating func page(_ key: StatementKey) -> String {
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
    let values = table.columns.indices.map {
      dialect.assigned(dialect.parameter($0 + 1), to: table.columns[$0])
    }
    return "INSERT \(abortClause)INTO \(name)\(alias) (\(targets(table.columns.indices))) "
      + (table.overridesIdentity ? "OVERRIDING SYSTEM VALUE " : "")
      + "VALUES (\(values.joined(separator: ", ")))"
  }

  func save() -> String {
    let changes = nonKeyColumns.map { "\(target($0)) = excluded.\(target($0))" }
    // Another program may have added an index in which the keys of two records are equal.
    let key = table.key.map { dialect.conflictTarget(table.columns[$0]) }.joined(separator: ", ")
    return insert() + " ON CONFLICT (\(key)) DO "
      + (changes.isEmpty ? "NOTHING" : "UPDATE SET " + changes.joined(separator: ", "))
  }

  func update() -> String {
    // A record that has only key fields is set to itself, so that SQLite counts it.
    let changed = nonKeyColumns.isEmpty ? table.key : nonKeyColumns
    let changes = changed.map {
      "\(target($0)) = \(dialect.assigned(dialect.parameter($0 + 1), to: table.columns[$0]))"
    }
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
    // The operand of a `varchar` must not be bare; it has the equality of bytes anyway.
    guard column.comparison == .byBytes, !column.isVarying else { return isSame }
    return "\(dialect.identifier(column.name)) = \(operand) AND \(isSame)"
  }

  mutating func holder(ofIndex index: Int) -> String {
    let values = table.indexes[index].map { "\(column($0)) = \(operand(of: $0))" }
    return "SELECT \(list(table.key)) FROM \(name) WHERE \(values.joined(separator: " AND ")) LIMIT 1"
  }

  func targets(_ positions: some Sequence<Int>) -> String { positions.map(target).joined(separator: ", ") }

  private var nonKeyColumns: [Int] { table.columns.indices.filter { !table.key.contains($0) } }
}

extension SQLQueryTranslator {
  /// How many operands a chain of AND or OR may have before it is split into parenthesised chains.
  ///
  /// SQLite parses a chain to a tree as deep as the chain is long, and limits the depth to 1,000. The worst condition
  /// nests ``LoweredPredicate/nestingLimit`` groups of 333 operands, which share ``LoweredPredicate/lengthLimit``: each
  /// is seven chains of 50 operands, 57 deep, so twelve of them are 684 deep.
  private static let chainLength = 50

  /// The text of the condition that starts at an index, which is advanced beyond it.
  mutating func condition(_ opcodes: [PredicateOpcode], _ index: inout Int, isInGroup: Bool) -> String {
    let opcode = opcodes[index]
    index += 1
    switch opcode.operation {
    case .never: return dialect.truth(false)
    case .always: return dialect.truth(true)
    case .all, .any:
      var members: [String] = []
      for _ in 0..<opcode.count { members.append(condition(opcodes, &index, isInGroup: true)) }
      let text = Self.joined(members, by: opcode.operation == .all ? " AND " : " OR ")
      return isInGroup ? "(\(text))" : text
    case .evaluated:
      let parameter = parameter()
      let columns = opcodes[index..<index + opcode.count].map { column($0.field) }
      index += opcode.count
      return dialect.evaluate(parameter, for: columns)
    default: return comparison(opcode)
    }
  }

  private static func joined(_ members: [String], by separator: String) -> String {
    guard members.count > chainLength else { return members.joined(separator: separator) }
    let chunks = stride(from: 0, to: members.count, by: chainLength).map { start in
      "(" + members[start..<min(start + chainLength, members.count)].joined(separator: separator) + ")"
    }
    return joined(chunks, by: separator)
  }

  private mutating func comparison(_ opcode: PredicateOpcode) -> String {
    let column = table.columns[opcode.field]
    let compared = dialect.compared(column)
    switch opcode.operation {
    case .isNull: return "\(compared) IS NULL"
    case .isNotNull: return "\(compared) IS NOT NULL"
    case .equal: return "\(compared) = \(operand(of: opcode.field))"
    case .notEqual:
      let operand = operand(of: opcode.field)
      return column.isOptional ? dialect.isDistinct(compared, operand) : "\(compared) <> \(operand)"
    case .less: return ordering(opcode, "<")
    case .lessOrEqual: return ordering(opcode, "<=")
    case .greater: return ordering(opcode, ">")
    case .greaterOrEqual: return ordering(opcode, ">=")
    case .isBetween, .isNotBetween:
      let isNegated = opcode.operation == .isNotBetween
      let key = orderKey(opcode.field)
      let lower = dialect.orderKey(operand(of: opcode.field), of: column.kind)
      let upper = dialect.orderKey(operand(of: opcode.field), of: column.kind)
      if !isNegated, ascending.contains(opcode.field) {
        return "\(dialect.unindexed(key)) >= \(lower) AND \(key) <= \(upper)"
      }
      if !isNegated, descending.contains(opcode.field) {
        return "\(key) >= \(lower) AND \(dialect.unindexed(key)) <= \(upper)"
      }
      return orNull(
        "\(key) \(isNegated ? "NOT " : "")BETWEEN \(lower) AND \(upper)", isNegated ? [opcode.field] : [])
    case .isIn, .isNotIn:
      let isNegated = opcode.operation == .isNotIn
      return orNull(
        dialect.isMember(compared, of: parameter(), isNegated: isNegated), isNegated ? [opcode.field] : [])
    case .textMatches: return dialect.search(parameter(), in: self.column(opcode.field))
    case .textDoesNotMatch: return "NOT " + dialect.search(parameter(), in: self.column(opcode.field))
    case .isLike, .isLikeInAnyCase:
      let isNegated = opcode.other == 1
      return orNull(
        dialect.matches(
          self.column(opcode.field), parameter(), isCaseInsensitive: opcode.operation == .isLikeInAnyCase,
          isNegated: isNegated), isNegated ? [opcode.field] : [])
    case .fieldEqual: return fields(opcode, "=") { dialect.isSame($0, $1) }
    case .fieldNotEqual: return fields(opcode, "<>") { dialect.isDistinct($0, $1) }
    case .fieldLess: return fieldOrdering(opcode, "<")
    case .fieldLessOrEqual: return fieldOrdering(opcode, "<=")
    case .fieldGreater: return fieldOrdering(opcode, ">")
    case .fieldGreaterOrEqual: return fieldOrdering(opcode, ">=")
    case .never, .always, .all, .any, .evaluated, .field: return dialect.truth(false)
    }
  }

  private mutating func ordering(_ opcode: PredicateOpcode, _ sign: String) -> String {
    var key = orderKey(opcode.field)
    let value = dialect.orderKey(operand(of: opcode.field), of: table.columns[opcode.field].kind)
    if (sign.hasPrefix(">") ? ascending : descending).contains(opcode.field) { key = dialect.unindexed(key) }
    return orNull("\(key) \(sign) \(value)", opcode.orNull ? [opcode.field] : [])
  }

  /// Adds what makes a negated ordering true where a field is nil.
  private func orNull(_ text: String, _ fields: [Int]) -> String {
    let alternatives = fields.filter { table.columns[$0].isOptional }.map { "\(column($0)) IS NULL" }
    return alternatives.isEmpty ? text : "(\(text) OR \(alternatives.joined(separator: " OR ")))"
  }

  private func fields(_ opcode: PredicateOpcode, _ sign: String, _ nullSafe: (String, String) -> String)
    -> String
  {
    let (left, right) = (table.columns[opcode.field], table.columns[opcode.other])
    // Two columns may have different collations, so both have that of an order.
    let (first, second) = (dialect.ordered(left), dialect.ordered(right))
    return left.isOptional || right.isOptional ? nullSafe(first, second) : "\(first) \(sign) \(second)"
  }

  private func fieldOrdering(_ opcode: PredicateOpcode, _ sign: String) -> String {
    let (first, second) = (orderKey(opcode.field), orderKey(opcode.other))
    return orNull("\(first) \(sign) \(second)", opcode.orNull ? [opcode.field, opcode.other] : [])
  }
}
