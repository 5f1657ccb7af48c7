import Foundation
package import PersistenceDriver
package import PersistencePrimitives

/// Writes values as text and as JSON, in the canonical forms that a strict ``ValueReader`` reads.
package enum ValueWriter {
  /// A value as JSON.
  ///
  /// Numbers keep all their digits; a double always has a decimal point or an exponent. NaN and the
  /// infinities are the strings `NaN`, `Infinity` and `-Infinity`, dates the text of ``DateText``, bytes
  /// Base64. A document is embedded, see ``JSONDocument``. JSON for people, as in the files of a JSON directory, omits
  /// the `.0` of a whole double.
  package static func json(_ value: PersistentValue, _ field: FieldSchema, forPeople: Bool = false) throws
    -> JSONValue
  {
    switch value {
    case .null: return .null
    case .bool(let truth): return .bool(truth)
    case .document(let text):
      do {
        return JSONDocument.wrapped(try JSONParser.parse(text))
      } catch {
        throw PersistenceError.damaged("the document in “\(field.name)” is not valid JSON: \(error)")
      }
    case .double(let number) where !number.isFinite: return .string(text(value, field.kind))
    case .double where forPeople:
      let text = text(value, field.kind)
      return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    case .decimal(let number) where number.isNaN: return .string(text(value, field.kind))
    case .integer, .decimal, .double: return .number(text(value, field.kind))
    case .text, .bytes, .uuid, .date: return .string(text(value, field.kind))
    }
  }

  /// A row as an object of its fields' names and values, in the order of the schema.
  package static func json(_ row: borrowing Row, in schema: ModelSchema, forPeople: Bool = false) throws
    -> JSONValue
  {
    var members: [JSONMember] = []
    members.reserveCapacity(row.count)
    for (position, field) in schema.fields.enumerated() {
      members.append(
        JSONMember(field.name, try json(try row.value(at: position), field, forPeople: forPeople)))
    }
    return .object(members)
  }

  /// A value as plain text, such as a CSV field; null is empty, like the empty text.
  package static func text(_ value: PersistentValue, _ kind: FieldKind) -> String {
    switch value {
    case .null: ""
    case .bool(let truth): "\(truth)"
    case .integer(let number): "\(number)"
    case .double(let number):
      SpecialNumber.text(number) ?? (kind == .float ? "\(Float(number))" : "\(number)")
    case .text(let text), .document(let text): text
    case .bytes(let bytes): Data(bytes).base64EncodedString()
    case .date(let seconds): DateText.text(seconds)
    case .uuid(let uuid): uuid.uuidString
    case .decimal(let number): number.canonicalText
    }
  }

  /// A value for a table in a terminal: shortened where digits or bytes do not help a person.
  package static func displayText(_ value: PersistentValue, _ kind: FieldKind) -> String {
    let text = text(value, kind)
    switch value {
    case .null: return "null"
    case .double: return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    case .bytes(let bytes):
      let shown = PersistentValue.bytes(Array(bytes.prefix(32))).description
      return bytes.count > 32 ? "\(shown)… (\(bytes.count) bytes)" : shown
    case .date: return text.hasSuffix("T00:00:00Z") ? String(text.dropLast(10)) : text
    default: return text
    }
  }
}
