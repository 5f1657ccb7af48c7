import Foundation
import PersistencePrimitives
import PersistenceDriver

/// How stored values are written in files and printed: exactly, so that whoever knows the schema makes the same of them.
package enum FieldText {
  /// A value as JSON.
  ///
  /// Integers, decimals and doubles are numbers with all their digits (a double always has a point or an
  /// exponent); NaN and the infinities the strings `NaN`, `Infinity` and `-Infinity`; dates text as ``DateText``
  /// makes it; UUIDs and URLs text; bytes Base64; documents themselves, but for `null`, which would be taken for
  /// nil and stands in an object of the one member `$json`, as does such an object.
  package static func json(_ value: PersistentValue, _ field: FieldSchema) throws -> JSONValue {
    switch value {
    case .null: return .null
    case .bool(let truth): return .bool(truth)
    case .document(let text):
      do {
        return JSONDocument.wrapped(try JSONParser.parse(text))
      } catch {
        throw PersistenceError.damaged("the document in “\(field.name)” is no JSON: \(error)")
      }
    case .integer, .decimal, .double:
      let text = plain(value, field)
      let isSpecial = text == SpecialNumber.nan || SpecialNumber.value(text) != nil
      return isSpecial ? .string(text) : .number(text)
    case .text, .bytes, .uuid, .date: return .string(plain(value, field))
    }
  }

  /// A value as the text of a CSV field; nil is no text, which is not the empty text.
  package static func plain(_ value: PersistentValue, _ field: FieldSchema) -> String {
    switch value {
    case .null: ""
    case .bool(let truth): "\(truth)"
    case .integer(let number): "\(number)"
    case .double(let number):
      SpecialNumber.text(number) ?? (field.kind == .float ? "\(Float(number))" : "\(number)")
    case .text(let text), .document(let text): text
    case .bytes(let bytes): Data(bytes).base64EncodedString()
    case .date(let seconds): DateText.text(seconds)
    case .uuid(let uuid): uuid.uuidString
    case .decimal(let number): number.canonicalText
    }
  }

  /// A value for a person to read in a table.
  package static func shown(_ value: PersistentValue, _ field: FieldSchema) -> String {
    switch value {
    case .null: return "null"
    case .double:
      let text = plain(value, field)
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    case .bytes(let bytes):
      let shown = PersistentValue.bytes(Array(bytes.prefix(32))).description
      return bytes.count > 32 ? "\(shown)… (\(bytes.count) bytes)" : shown
    case .date:
      let text = plain(value, field)
      return text.hasSuffix("T00:00:00Z") ? String(text.dropLast(10)) : text
    default: return plain(value, field)
    }
  }
}
