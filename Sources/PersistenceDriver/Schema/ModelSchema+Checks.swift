import PersistencePrimitives

extension ModelSchema {
  /// The differences between the declared schema and a stored one, one per line.
  ///
  /// The order of fields and indexes does not matter, because stores identify fields by name. A difference reads
  /// `budget: stored as int64, declared as double?`.
  package func differences(from stored: ModelSchema) -> [String] {
    var lines: [String] = []
    for field in fields {
      guard let other = stored.field(named: field.name) else {
        lines.append("\(field.name): declared as \(field.shape), not in the store")
        continue
      }
      if other != field {
        lines.append("\(field.name): stored as \(other.shape), declared as \(field.shape)")
      }
    }
    for field in stored.fields where position(of: field.name) == nil {
      lines.append("\(field.name): stored as \(field.shape), not declared")
    }
    if key.map(StoredName.init) != stored.key.map(StoredName.init) {
      lines.append(
        "primary key: stored as (\(stored.key.joined(separator: ", "))), "
          + "declared as (\(key.joined(separator: ", ")))")
    }
    for index in indexes where !stored.indexes.contains(index) {
      lines.append("index \(index): declared, not in the store")
    }
    for index in stored.indexes where !indexes.contains(index) {
      lines.append("index \(index): in the store, not declared")
    }
    return lines
  }

  /// Checks that the declared schema is compatible with the stored one (contract E4).
  ///
  /// - Parameters:
  ///   - stored: The schema in the store's catalog.
  ///   - location: The location of the store, for the message.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` and the differences.
  public func requireCompatible(with stored: ModelSchema, location: String) throws {
    guard identity != stored.identity, self != stored else { return }
    let lines = differences(from: stored)
    guard lines.isEmpty else {
      throw PersistenceError.schemaMismatch(model: name, location: location, differences: lines)
    }
  }
}

extension FieldSchema {
  var shape: String { kind.rawValue + (isOptional ? "?" : "") }
}

/// The cells that a field accepts, without the field's name, which would be retained for each checked cell.
struct CellRule: Sendable, BitwiseCopyable {
  let tag: RowCell.Tag
  let isOptional: Bool
  /// The range of integers; unlimited for other kinds, for which the tag decides.
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
  /// Checks that a row to be written has the schema's fields, each with a value of its kind.
  ///
  /// Contexts call it before they insert, update or save a row, so that all contexts reject the same rows.
  ///
  /// Complexity: a few comparisons per field, without allocation.
  ///
  /// - Parameter row: The row.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the row has another number
  ///   of fields, a required field is nil, or a value has another kind or is outside the kind's range.
  public func validate(_ row: borrowing Row) throws {
    let rules = cellRules
    guard row.count == rules.count else {
      throw PersistenceError(
        .invalidRequest, "\(name) has \(rules.count) fields, but the row has \(row.count)", model: name)
    }
    for position in 0..<rules.count {
      let (cell, rule) = (row[position], rules[position])
      if cell.tag == rule.tag {
        guard cell.tag == .integer, cell.integerValue < rule.least || cell.integerValue > rule.greatest else {
          continue
        }
        throw mismatch("\(cell.integerValue)", at: position)
      }
      guard cell.isNull, rule.isOptional else {
        throw mismatch(cell.isNull ? "nil" : "\(cell.tag)", at: position)
      }
    }
  }

  private func mismatch(_ what: String, at position: Int) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "the field “\(fields[position])” of \(name) cannot contain \(what)", model: name,
      field: fields[position].name)
  }
}
