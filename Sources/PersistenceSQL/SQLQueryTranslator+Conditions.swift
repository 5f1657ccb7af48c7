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
      let lower = dialect.orderKey(parameter(), of: column.kind)
      let upper = dialect.orderKey(parameter(), of: column.kind)
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
    let value = dialect.orderKey(parameter(), of: table.columns[opcode.field].kind)
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
    let (first, second) = (dialect.compared(left), dialect.compared(right))
    return left.isOptional || right.isOptional ? nullSafe(first, second) : "\(first) \(sign) \(second)"
  }

  private func fieldOrdering(_ opcode: PredicateOpcode, _ sign: String) -> String {
    let (first, second) = (orderKey(opcode.field), orderKey(opcode.other))
    return orNull("\(first) \(sign) \(second)", opcode.orNull ? [opcode.field, opcode.other] : [])
  }
}
