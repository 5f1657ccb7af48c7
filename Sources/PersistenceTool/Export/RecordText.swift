import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Whole records as text.
enum RecordText {
  /// A record as one line of JSON, its members in the order of the positions.
  static func json(_ row: borrowing Row, _ schema: ModelSchema, _ positions: [Int]) throws -> String {
    var line = "{"
    for (index, position) in positions.enumerated() {
      let field = schema.fields[position]
      if index > 0 { line += "," }
      line += JSONText.canonical(.string(field.name)) + ":"
      line += JSONText.canonical(try FieldText.json(try row.value(at: position), field))
    }
    return line + "}"
  }

  /// A record as a record of CSV.
  static func delimited(_ row: borrowing Row, _ schema: ModelSchema, _ positions: [Int]) throws -> String {
    var fields: [String?] = []
    for position in positions {
      let value = try row.value(at: position)
      fields.append(value.isNull ? nil : FieldText.plain(value, schema.fields[position]))
    }
    return DelimitedText.line(fields)
  }
}
