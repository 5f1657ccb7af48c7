import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Records as JSON for people: one object, its members named as the fields.
///
/// | kind | in the file |
/// |---|---|
/// | integers, decimals | a number with all its digits |
/// | doubles | the shortest number that reads back, or `"NaN"`, `"Infinity"`, `"-Infinity"` |
/// | dates | text such as `"2010-07-16T00:00:00Z"`, see `DateText` |
/// | data | Base64 text |
/// | UUIDs, URLs, strings | text |
/// | documents | the JSON itself |
/// | nil | `null`, or no member |
///
/// A document that is itself `null`, or an object of the one member `$json`, stands in an object of the one member
/// `$json`, so that it is not taken for nil.
enum RecordText {
  /// The text of a row.
  static func text(of row: borrowing Row, in schema: ModelSchema) throws -> [UInt8] {
    var members: [JSONMember] = []
    members.reserveCapacity(schema.fields.count)
    for (position, field) in schema.fields.enumerated() {
      members.append(JSONMember(field.name, try value(of: row[position], field)))
    }
    return JSONText.pretty(.object(members))
  }

  /// Fills a row from the text of a record, checking every member.
  ///
  /// - Throws: ``PersistenceError`` with code `damaged`, naming line and column.
  static func fill(_ row: RowBuffer, from bytes: [UInt8], in schema: ModelSchema) throws {
    let value: JSONValue
    do {
      value = try bytes.withUnsafeBytes { try JSONParser.parse($0) }
    } catch let error as JSONSyntaxError {
      throw PersistenceError.damaged("the text is not JSON: \(error)")
    }
    guard case .object(let members) = value else {
      throw PersistenceError.damaged("line 1, column 1: the text is \(value.kind), not an object")
    }
    row.reset()
    var seen = 0
    for member in members {
      guard let position = schema.position(of: member.name) else {
        throw damaged(member.name, "it is no field of the model", bytes)
      }
      seen += 1
      try fill(row, member.value, schema.fields[position], at: position, bytes)
    }
    guard seen < schema.fields.count else { return }
    for field in schema.fields where !field.isOptional && value.member(field.name) == nil {
      throw PersistenceError.damaged("the member “\(field.name)” is missing and cannot be nil")
    }
  }

  private static func fill(
    _ row: RowBuffer, _ value: JSONValue, _ field: FieldSchema, at position: Int, _ bytes: [UInt8]
  ) throws {
    if case .null = value {
      guard field.isOptional else { throw damaged(field.name, "it cannot be null", bytes) }
      return
    }
    guard let stored = stored(value, field.kind) else {
      throw damaged(field.name, "\(value.kind) that is no \(field.kind.rawValue)", bytes)
    }
    row.set(stored, at: position)
  }

  /// An error that names the member's place, found by its name in the text.
  private static func damaged(_ member: String, _ reason: String, _ bytes: [UInt8]) -> PersistenceError {
    let name = Array(JSONText.canonical(.string(member)).utf8)
    var place = ""
    if let range = bytes.firstRange(of: name) {
      let before = bytes[..<range.lowerBound]
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      place = "line \(line), column \(range.lowerBound - start + 1): "
    }
    var error = PersistenceError.damaged("\(place)the member “\(member)”: \(reason)")
    error.field = member
    return error
  }

  private static func value(of cell: RowCell, _ field: FieldSchema) throws -> JSONValue {
    let stored = try cell.value()
    switch stored {
    case .double(let number):
      // The shortest text of a Float is shorter than that of the Double that holds it.
      if field.kind == .float, Double(Float(number)) == number, number.isFinite {
        let text = "\(Float(number))"
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
      }
      if let text = JSONText.number(number) { return .number(text) }
      return .string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
    case .document(let text):
      do {
        return JSONDocument.wrapped(try JSONParser.parse(text))
      } catch {
        throw PersistenceError(.encodingFailed, "the document in “\(field.name)” is not JSON: \(error)")
      }
    default: return try FieldText.json(stored, field)
    }
  }

  /// The value of a member; nil where it does not fit the kind.
  static func stored(_ value: JSONValue, _ kind: FieldKind) -> PersistentValue? {
    switch (kind, value) {
    case (.bool, .bool(let truth)): return .bool(truth)
    case (.double, .number(let text)):
      return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
    case (.float, .number(let text)):
      return Float(text).flatMap { $0.isFinite ? .double(Double($0)) : nil }
    case (.float, .string(let text)), (.double, .string(let text)):
      switch text {
      case "NaN": return .double(.nan)
      case "Infinity": return .double(.infinity)
      case "-Infinity": return .double(-.infinity)
      default: return nil
      }
    case (.string, .string(let text)), (.url, .string(let text)): return .text(text)
    case (.data, .string(let text)): return Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
    case (.date, .string(let text)): return DateText.seconds(text).map(PersistentValue.date)
    case (.uuid, .string(let text)): return UUID(uuidString: text).map(PersistentValue.uuid)
    case (.decimal, .number(let text)): return decimal(text).map(PersistentValue.decimal)
    case (.decimal, .string("NaN")): return .decimal(.nan)
    case (.document, let value): return .document(JSONText.canonical(JSONDocument.unwrapped(value)))
    case (_, .number(let text)):
      guard let range = kind.integerRange, let number = Int64(text), range.contains(number) else {
        return nil
      }
      return .integer(number)
    default: return nil
    }
  }

  /// The number of a text, unless it has more digits than a `Decimal` holds.
  private static func decimal(_ text: String) -> Decimal? {
    func digits(_ text: some StringProtocol) -> [UInt8] {
      let all = text.utf8.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      let leading = all.drop { $0 == UInt8(ascii: "0") }
      return Array(leading.reversed().drop { $0 == UInt8(ascii: "0") })
    }
    guard let number = Decimal(canonicalText: text) else { return nil }
    let mantissa = text.prefix { $0 != "e" && $0 != "E" }
    return digits(number.canonicalText) == digits(mantissa) ? number : nil
  }
}
