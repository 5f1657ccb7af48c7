/// What cells a field takes, without the field's name, which would be retained for every cell that is looked at.
struct CellRule: Sendable, BitwiseCopyable {
  let tag: RowCell.Tag
  let isOptional: Bool
  /// The integers that it takes; all of them where it takes none, since the tag decides then.
  let least: Int64
  let greatest: Int64

  init(_ field: FieldSchema) {
    tag = field.kind.tag
    isOptional = field.isOptional
    least = field.kind.integerRange?.lowerBound ?? .min
    greatest = field.kind.integerRange?.upperBound ?? .max
  }
}

extension ModelSchema {
  /// Makes sure that a row that is to be written has the schema's fields, each with a value of its kind.
  ///
  /// Contexts call it before they insert, update or save a row, so that all of them refuse the same rows.
  ///
  /// Complexity: a few comparisons for each field; nothing is allocated.
  ///
  /// - Parameter row: The row.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where the row has another
  ///   number of fields, or a field holds nil and may not, a value of another kind, or an integer out of its kind's
  ///   range.
  public func validate(_ row: borrowing Row) throws {
    let rules = cellRules
    guard row.count == rules.count else {
      throw PersistenceError(
        .invalidRequest, "\(name) has \(rules.count) fields; a row of \(row.count) was given", model: name)
    }
    for position in 0..<rules.count {
      let (cell, rule) = (row[position], rules[position])
      if cell.tag == rule.tag {
        guard cell.tag == .integer, cell.integerValue < rule.least || cell.integerValue > rule.greatest else {
          continue
        }
        throw misfit("\(cell.integerValue)", at: position)
      }
      guard cell.isNull, rule.isOptional else {
        throw misfit(cell.isNull ? "nil" : "\(cell.tag)", at: position)
      }
    }
  }

  private func misfit(_ what: String, at position: Int) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "the field “\(fields[position])” of \(name) cannot hold \(what)", model: name,
      field: fields[position].name)
  }
}
