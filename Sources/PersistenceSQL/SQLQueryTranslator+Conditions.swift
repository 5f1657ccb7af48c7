extension SQLQueryTranslator {
  /// How many members of a group stand side by side: a chain of operators is as deep as it is long, so a group that
  /// stands first in another is as deep as both are long, and SQLite allows a depth of 1,000.
  ///
  /// As many groups as may be nested share ``LoweredPredicate/lengthLimit`` words: 333 each, which are chains of seven
  /// chains of 50, and twelve times 57 deep.
  private static let chainLength = 50

  /// The condition that begins at a word; the index is moved behind it.
  mutating func condition(_ words: [PredicateOpcode], _ index: inout Int, isInGroup: Bool) -> String {
    let word = words[index]
    index += 1
    switch word.operation {
    case .no: return "0"
    case .yes: return "1"
    case .all, .any:
      var members: [String] = []
      for _ in 0..<word.count { members.append(condition(words, &index, isInGroup: true)) }
      let text = Self.joined(members, by: word.operation == .all ? " AND " : " OR ")
      return isInGroup ? "(\(text))" : text
    case .evaluated:
      let parameter = parameter()
      let columns = words[index..<index + word.count].map { column($0.field) }
      index += word.count
      return dialect.holds(parameter, for: columns)
    default: return comparison(word)
    }
  }

  private static func joined(_ members: [String], by separator: String) -> String {
    guard members.count > chainLength else { return members.joined(separator: separator) }
    let chunks = stride(from: 0, to: members.count, by: chainLength).map { start in
      "(" + members[start..<min(start + chainLength, members.count)].joined(separator: separator) + ")"
    }
    return joined(chunks, by: separator)
  }

  private mutating func comparison(_ word: PredicateOpcode) -> String {
    let column = table.columns[word.field]
    let compared = dialect.compared(column)
    switch word.operation {
    case .isNull: return "\(compared) IS NULL"
    case .isNotNull: return "\(compared) IS NOT NULL"
    case .equal: return "\(compared) = \(parameter())"
    case .differs:
      return column.isOptional
        ? dialect.areDistinct(compared, parameter()) : "\(compared) <> \(parameter())"
    case .less: return ordering(word, "<")
    case .lessOrEqual: return ordering(word, "<=")
    case .greater: return ordering(word, ">")
    case .greaterOrEqual: return ordering(word, ">=")
    case .isBetween, .isNotBetween:
      let isNegated = word.operation == .isNotBetween
      let key = dialect.orderKey(compared, of: column.kind)
      let lower = dialect.orderKey(parameter(), of: column.kind)
      let upper = dialect.orderKey(parameter(), of: column.kind)
      if !isNegated, ascending.contains(word.field) {
        return "\(dialect.unindexed(key)) >= \(lower) AND \(key) <= \(upper)"
      }
      if !isNegated, descending.contains(word.field) {
        return "\(key) >= \(lower) AND \(dialect.unindexed(key)) <= \(upper)"
      }
      return orNull(
        "\(key) \(isNegated ? "NOT " : "")BETWEEN \(lower) AND \(upper)", isNegated ? [word.field] : [])
    case .isIn, .isNotIn:
      let isNegated = word.operation == .isNotIn
      return orNull(
        dialect.isMember(compared, of: parameter(), isNegated: isNegated), isNegated ? [word.field] : [])
    case .isFound: return dialect.isFound(parameter(), in: self.column(word.field))
    case .isNotFound: return "NOT " + dialect.isFound(parameter(), in: self.column(word.field))
    case .fieldEqual: return fields(word, "=") { dialect.areSame($0, $1) }
    case .fieldDiffers: return fields(word, "<>") { dialect.areDistinct($0, $1) }
    case .fieldLess: return fieldOrdering(word, "<")
    case .fieldLessOrEqual: return fieldOrdering(word, "<=")
    case .fieldGreater: return fieldOrdering(word, ">")
    case .fieldGreaterOrEqual: return fieldOrdering(word, ">=")
    case .no, .yes, .all, .any, .evaluated, .field: return "0"
    }
  }

  private mutating func ordering(_ word: PredicateOpcode, _ sign: String) -> String {
    let column = table.columns[word.field]
    var key = dialect.orderKey(dialect.compared(column), of: column.kind)
    let value = dialect.orderKey(parameter(), of: column.kind)
    if (sign.hasPrefix(">") ? ascending : descending).contains(word.field) { key = dialect.unindexed(key) }
    return orNull("\(key) \(sign) \(value)", word.orNull ? [word.field] : [])
  }

  /// Adds what makes a negated ordering true where a field is nil.
  private func orNull(_ text: String, _ fields: [Int]) -> String {
    let alternatives = fields.filter { table.columns[$0].isOptional }.map { "\(column($0)) IS NULL" }
    return alternatives.isEmpty ? text : "(\(text) OR \(alternatives.joined(separator: " OR ")))"
  }

  private func fields(_ word: PredicateOpcode, _ sign: String, _ nullSafe: (String, String) -> String)
    -> String
  {
    let (left, right) = (table.columns[word.field], table.columns[word.other])
    let (first, second) = (dialect.compared(left), dialect.compared(right))
    return left.isOptional || right.isOptional ? nullSafe(first, second) : "\(first) \(sign) \(second)"
  }

  private func fieldOrdering(_ word: PredicateOpcode, _ sign: String) -> String {
    let (left, right) = (table.columns[word.field], table.columns[word.other])
    let first = dialect.orderKey(dialect.compared(left), of: left.kind)
    let second = dialect.orderKey(dialect.compared(right), of: right.kind)
    return orNull("\(first) \(sign) \(second)", word.orNull ? [word.field, word.other] : [])
  }
}
