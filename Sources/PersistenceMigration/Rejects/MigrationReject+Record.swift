import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

extension MigrationReject {
  /// Makes a reject of a record that could not be read, or that the destination cannot represent.
  init(_ error: PersistenceError, model: String, position: Int, record: String?) {
    self.init(
      model: model, position: position, key: error.key, code: error.code.rawValue, reason: error.message,
      record: record)
  }

  /// Makes a reject of a record that the destination rejected.
  init(_ error: PersistenceError, _ row: borrowing Row, _ schema: ModelSchema, model: String, position: Int) {
    self.init(
      model: model, position: position, key: try? RecordKey(of: row, in: schema), code: error.code.rawValue,
      reason: error.message, record: Self.text(of: row, schema))
  }

  /// The values by field name, as export writes them, without unreadable ones.
  static func text(of row: borrowing Row, _ schema: ModelSchema) -> String? {
    var members: [JSONMember] = []
    for (position, field) in schema.fields.enumerated() {
      guard let value = try? row.value(at: position), let json = try? ValueWriter.json(value, field) else {
        continue
      }
      members.append(JSONMember(field.name, json))
    }
    return JSONText.canonical(.object(members))
  }
}
