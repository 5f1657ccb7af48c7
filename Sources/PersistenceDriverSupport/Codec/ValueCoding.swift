import Foundation
package import PersistenceDriver
package import PersistencePrimitives

/// Reads values from text and from JSON.
package struct ValueReader: Sendable {
  /// Which spellings of a value a reader accepts.
  ///
  /// The strict profile reads what programs send: every value has its own JSON type. The lenient profile
  /// reads what people write: a string may also contain a number or a Boolean.
  ///
  /// | kind | strict and lenient | only lenient |
  /// |---|---|---|
  /// | bool | `true`, `false` | `"true"`, `"false"` |
  /// | integers | `12`, `-3`, `12.0`, `1.2e1` | `"12"` |
  /// | double, float | any number, `"NaN"`, `"Infinity"`, `"-Infinity"` | `"1.5"` |
  /// | decimal | any number that a decimal holds exactly, `"NaN"` | `"1.50"` |
  /// | date | ISO 8601: `"2010-07-16T00:00:00.5Z"`, `"2010-07-16"`, `"2010-07-16 10:00+02:00"`; `"@1e+300"` | |
  /// | data | Base64 with padding | |
  /// | uuid | 36 characters, in either case | |
  /// | string, url | any string; a URL must be valid | |
  /// | document | any JSON, see ``JSONDocument`` | |
  ///
  /// Neither profile accepts a value that is ambiguous, out of range or lossy: an integer with a fraction, a
  /// decimal with too many digits, Base64 with unused bits, a number too large for its kind or so small that
  /// only zero is left. Doubles, floats and dates are binary numbers: they become the nearest one. A time
  /// without an offset is in UTC.
  ///
  /// Plain text has the same forms without quotation marks; a document is its JSON text. There, the
  /// strict profile accepts only the form of an integer or date that ``ValueWriter`` writes, since a key in a
  /// path or a file name has one spelling.
  package enum Profile: Sendable { case strict, lenient }

  package static let strict = ValueReader(.strict)
  package static let lenient = ValueReader(.lenient)

  private let isLenient: Bool
  private let validatesURLs: Bool

  /// Makes a reader; one that does not validate URLs accepts any text, as engines do.
  package init(_ profile: Profile, validatesURLs: Bool = true) {
    isLenient = profile == .lenient
    self.validatesURLs = validatesURLs
  }

  /// The value of JSON that is not null; nil if the kind cannot hold it.
  package func value(_ json: JSONValue, _ kind: FieldKind) -> PersistentValue? {
    switch (kind, json) {
    case (.document, _):
      let document = JSONDocument.unwrapped(json)
      return document.isWithinDepthLimit ? .document(JSONText.canonical(document)) : nil
    case (.bool, .bool(let truth)): return .bool(truth)
    case (.date, .string(let text)): return date(text, canonical: false)
    case (.string, .string(let text)), (.url, .string(let text)), (.data, .string(let text)),
      (.uuid, .string(let text)):
      return value(ofText: text, kind)
    case (_, .string(let text)): return isLenient ? value(ofText: text, kind) : special(text, kind)
    case (_, .number(let text)): return number(text, kind)
    default: return nil
    }
  }

  /// The value of plain text; nil if the kind cannot hold it.
  package func value(ofText text: String, _ kind: FieldKind) -> PersistentValue? {
    switch kind {
    case .string: return .text(text)
    case .url: return validatesURLs && URL(string: text) == nil ? nil : .text(text)
    case .bool: return text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
    case .data: return Self.bytes(text).map(PersistentValue.bytes)
    case .uuid: return UUID(uuidString: text).map(PersistentValue.uuid)
    case .date: return date(text, canonical: !isLenient)
    case .document: return (try? JSONDocument.canonical(text)).map(PersistentValue.document)
    case .double, .float, .decimal, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      // Most integers have their canonical form, which one comparison shows.
      if let range = kind.integerRange, let number = Int64(text), "\(number)" == text {
        return range.contains(number) ? .integer(number) : nil
      }
      if let special = special(text, kind) { return special }
      guard ExactNumber(text) != nil else { return nil }
      if !isLenient, kind.isInteger, Int64(text).map({ "\($0)" }) != text { return nil }
      return number(text, kind)
    }
  }

  private func date(_ text: String, canonical: Bool) -> PersistentValue? {
    let seconds = DateText.seconds(text) ?? (canonical ? nil : ISO8601Reader.seconds(text))
    return seconds.map { PersistentValue.date($0).normalized }
  }

  /// The value of a text for a number that JSON lacks.
  private func special(_ text: String, _ kind: FieldKind) -> PersistentValue? {
    guard let number = SpecialNumber.value(text) else { return nil }
    switch kind {
    case .double, .float: return .double(number)
    case .decimal: return number.isNaN ? .decimal(.nan) : nil
    default: return nil
    }
  }

  /// The value of a number in decimal digits.
  private func number(_ text: String, _ kind: FieldKind) -> PersistentValue? {
    switch kind {
    case .double: return Double(decimal: text).map(PersistentValue.double)
    case .float: return Float(decimal: text).map { .double(Double($0)) }
    case .decimal:
      // Most decimals are canonical: one comparison shows that they keep their digits.
      if let number = Decimal(canonicalText: text), number.canonicalText == text { return .decimal(number) }
      return ExactNumber(text)?.decimal.map(PersistentValue.decimal)
    default:
      guard let range = kind.integerRange, let number = Int64(text) ?? ExactNumber(text)?.int64,
        range.contains(number)
      else { return nil }
      return .integer(number)
    }
  }

  /// The bytes of Base64; nil if it has unused bits that are set, because a round trip would lose them.
  private static func bytes(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text) else { return nil }
    let tail = data.suffix(data.count % 3 == 0 ? 3 : data.count % 3)
    return text.utf8.suffix(4).elementsEqual(tail.base64EncodedString().utf8) ? [UInt8](data) : nil
  }
}

/// Why an object is not a record of a model.
package enum RecordMismatch: Error {
  /// The model has no field of this name.
  case unknownField(String)
  /// The field cannot hold the value.
  case mismatch(FieldSchema, JSONValue)
  /// The object lacks a field that is not optional.
  case missing(FieldSchema)
}

extension ValueReader {
  /// The value of JSON in a field.
  package func value(_ json: JSONValue, for field: FieldSchema) throws(RecordMismatch) -> PersistentValue {
    if case .null = json, field.isOptional { return .null }
    if case .null = json { throw .mismatch(field, json) }
    guard let value = value(json, field.kind) else { throw .mismatch(field, json) }
    return value
  }

  /// Fills a row from the members of an object; fields without a member are nil.
  package func fill(_ row: RowBuffer, from members: [JSONMember], in schema: ModelSchema)
    throws(RecordMismatch)
  {
    row.reset()
    var isGiven = [Bool](repeating: false, count: schema.fields.count)
    for member in members {
      guard let position = schema.position(of: member.name) else { throw .unknownField(member.name) }
      isGiven[position] = true
      row.set(try value(member.value, for: schema.fields[position]), at: position)
    }
    for (position, field) in schema.fields.enumerated() where !isGiven[position] && !field.isOptional {
      throw .missing(field)
    }
  }
}

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
