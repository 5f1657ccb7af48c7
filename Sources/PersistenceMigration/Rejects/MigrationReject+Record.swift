import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

extension MigrationReject {
  /// Makes a reject of a record that could not be read, or that the destination cannot represent.
  init(_ error: PersistenceError, model: String, position: Int, record: String?) {
    self.init(
      model: model, position: position, key: error.key.flatMap(Self.bounded), code: error.code.rawValue,
      reason: Self.bounded(error.message), record: record)
  }

  /// Makes a reject of a record that the destination rejected.
  init(_ error: PersistenceError, _ row: borrowing Row, _ schema: ModelSchema, model: String, position: Int) {
    self.init(
      model: model, position: position, key: (try? RecordKey(of: row, in: schema)).flatMap(Self.bounded),
      code: error.code.rawValue, reason: Self.bounded(error.message), record: Self.text(of: row, schema))
  }

  /// The maximum size of the key, the reason and the record, each in bytes.
  private static let sizeLimit = 64 << 10

  /// The values by field name, as export writes them, without unreadable ones.
  ///
  /// The text has at most 64 KiB, so that the rejects of a transaction fit in memory. A value that exceeds the limit
  /// is replaced by its size.
  static func text(of row: borrowing Row, _ schema: ModelSchema) -> String? {
    var members: [JSONMember] = []
    var size = 2
    for (position, field) in schema.fields.enumerated() {
      let byteCount = row[position].borrowedBytes.count
      // JSON is at least as long as the value, so a value that is too large is not converted.
      if size + byteCount <= sizeLimit {
        guard let value = try? row.value(at: position), let json = try? ValueWriter.json(value, field) else {
          continue
        }
        let member = JSONMember(field.name, json)
        let memberSize = JSONText.canonical(.object([member])).utf8.count
        if size + memberSize <= sizeLimit {
          members.append(member)
          size += memberSize
          continue
        }
      }
      let member = JSONMember(field.name, .string("left out: \(byteCount) bytes, and a reject has 64 KiB"))
      members.append(member)
      size += JSONText.canonical(.object([member])).utf8.count
    }
    return bounded(JSONText.canonical(.object(members)))
  }

  /// A text, cut to the limit.
  private static func bounded(_ text: String) -> String {
    guard text.utf8.count > sizeLimit else { return text }
    let note = "… (cut: \(text.utf8.count) bytes, and a reject has 64 KiB)"
    var end = text.utf8.index(text.startIndex, offsetBy: sizeLimit - note.utf8.count)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + note
  }

  /// A key; nil if it exceeds the limit.
  private static func bounded(_ key: RecordKey) -> RecordKey? {
    guard let text = try? Ledger.text(key), text.utf8.count <= sizeLimit else { return nil }
    return key
  }
}
