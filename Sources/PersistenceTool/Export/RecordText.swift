import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Writes records as text.
enum RecordText {
  /// A row of the fields as one line of JSON, with members in their order.
  static func json(_ row: borrowing Row, _ fields: [FieldSchema]) throws -> String {
    var line = "{"
    for (position, field) in fields.enumerated() {
      if position > 0 { line += "," }
      line += JSONText.canonical(.string(field.name)) + ":"
      line += JSONText.canonical(try ValueWriter.json(try row.value(at: position), field))
    }
    return line + "}"
  }

  /// A row of the fields as CSV.
  static func delimited(_ row: borrowing Row, _ fields: [FieldSchema]) throws -> String {
    var texts: [String?] = []
    for (position, field) in fields.enumerated() {
      let value = try row.value(at: position)
      texts.append(value.isNull ? nil : ValueWriter.text(value, field.kind))
    }
    return DelimitedText.line(texts)
  }
}

/// Writes CSV (RFC 4180).
enum DelimitedText {
  /// One record with its line ending: nil is empty, and the empty text is `""`, so that the two differ.
  static func line(_ fields: [String?]) -> String {
    fields.map { $0.map(field) ?? "" }.joined(separator: ",") + "\r\n"
  }

  private static func field(_ text: String) -> String {
    let needsQuotes =
      text.isEmpty
      || text.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D, 0x20, 0x09].contains($0) }
      || text.unicodeScalars.first == "\u{FEFF}"
    return needsQuotes ? "\"" + text.doubling("\"") + "\"" : text
  }
}
