import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// The text of records: one pretty JSON object each, its members named as the fields.
///
/// Values are written as ``ValueWriter`` does and read with the lenient profile of ``ValueReader``, since
/// people edit the files. A nil field is `null`, or has no member.
enum RecordText {
  /// Text that is not a URL is read too: every engine stores it, and decoding the model rejects it.
  private static let reader = ValueReader(.lenient, validatesURLs: false)

  /// The text of a row.
  ///
  /// - Throws: ``PersistenceError`` with code `encodingFailed`, or `valueTooLarge` if no file can hold the text.
  static func text(of row: borrowing Row, in schema: ModelSchema) throws -> [UInt8] {
    do {
      let text = JSONText.pretty(try ValueWriter.json(row, in: schema, forPeople: true))
      try File.requireReadable(size: text.count, of: "the text of the record")
      return text
    } catch var error as PersistenceError where error.code == .damaged {
      error.code = .encodingFailed
      throw error
    }
  }

  /// Fills a row from the text of a record, checking every member.
  ///
  /// - Throws: ``PersistenceError`` with code `damaged`, naming line and column.
  static func fill(
    _ row: RowBuffer, from bytes: [UInt8], in schema: ModelSchema, _ earlier: EarlierMembers? = nil
  ) throws {
    let value: JSONValue
    do {
      value = try bytes.withUnsafeBytes { try JSONParser.parse($0, of: .envelope) }
    } catch let error as JSONSyntaxError {
      throw PersistenceError.damaged("the text is not JSON: \(error)")
    }
    guard case .object(let members) = value else {
      throw PersistenceError.damaged("line 1, column 1: the text is \(value.kind), not an object")
    }
    if let name = earlier?.duplicate(in: members) {
      throw damaged(name, "the file has another member for the same field", bytes)
    }
    do {
      if let earlier {
        try earlier.fill(row, from: members, by: reader)
      } else {
        try reader.fill(row, from: members, in: schema)
      }
    } catch {
      switch error {
      case .unknownField(let name): throw damaged(name, "the model has no such field", bytes)
      case .mismatch(let field, .null):
        throw damaged(earlier?.name(of: field, in: members) ?? field.name, "it cannot be null", bytes)
      case .mismatch(let field, let value):
        let name = earlier?.name(of: field, in: members) ?? field.name
        throw damaged(name, "\(value.kind) that is not a valid \(field.kind.rawValue)", bytes)
      case .missing(let field):
        throw PersistenceError.damaged("the member “\(field.name)” is missing and cannot be nil")
      }
    }
  }

  /// The value of a member that is not null; nil if the kind cannot hold it.
  static func value(_ json: JSONValue, _ kind: FieldKind) -> PersistentValue? { reader.value(json, kind) }

  /// A value as a file would keep it.
  static func written(_ value: PersistentValue, _ field: FieldSchema) throws -> PersistentValue {
    RecordText.value(try ValueWriter.json(value, field, forPeople: true), field.kind) ?? value
  }

  /// An error with the member's line and column, found by its name in the text.
  private static func damaged(_ member: String, _ reason: String, _ bytes: [UInt8]) -> PersistenceError {
    let name = Array(JSONText.canonical(.string(member)).utf8)
    var location = ""
    if let range = bytes.firstRange(of: name) {
      let before = bytes[..<range.lowerBound]
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      location = "line \(line), column \(range.lowerBound - start + 1): "
    }
    var error = PersistenceError.damaged("\(location)the member “\(member)”: \(reason)")
    error.field = member
    return error
  }
}
