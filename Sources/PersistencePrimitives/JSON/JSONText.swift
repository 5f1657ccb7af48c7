package import Foundation

/// Writes JSON text: canonical for documents, pretty for people.
package enum JSONText {
  /// The canonical text of JSON: members sorted by the bytes of their names, no white space, a minimum of
  /// escapes, and numbers as they were spelled.
  package static func canonical(_ data: Data) throws -> String {
    canonical(try data.withUnsafeBytes { try JSONParser.parse($0) })
  }

  package static func canonical(_ value: JSONValue) -> String {
    var writer = Writer(isPretty: false)
    writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Appends the canonical text of a value.
  package static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
    var writer = Writer(isPretty: false)
    swap(&writer.bytes, &bytes)
    writer.write(value)
    swap(&writer.bytes, &bytes)
  }

  /// The text of a value for people: two spaces per level, one line per member or element, members sorted by
  /// the bytes of their names, and a line feed at the end.
  package static func pretty(_ value: JSONValue) -> [UInt8] {
    var writer = Writer(isPretty: true)
    writer.write(value)
    writer.bytes.append(UInt8(ascii: "\n"))
    return writer.bytes
  }

  private struct Writer {
    let isPretty: Bool
    var bytes: [UInt8] = []
    private var level = 0

    init(isPretty: Bool) { self.isPretty = isPretty }

    mutating func write(_ value: JSONValue) {
      switch value {
      case .null: bytes.append(contentsOf: "null".utf8)
      case .bool(let truth): bytes.append(contentsOf: (truth ? "true" : "false").utf8)
      case .number(let text): bytes.append(contentsOf: text.utf8)
      case .string(let text): write(text)
      case .array(let elements): write(elements, "[", "]") { $0.write($1) }
      case .object(let members):
        let sorted = members.sorted { StoredName($0.name) < StoredName($1.name) }
        write(sorted, "{", "}") { writer, member in
          writer.write(member.name)
          writer.bytes.append(contentsOf: (writer.isPretty ? ": " : ":").utf8)
          writer.write(member.value)
        }
      }
    }

    private mutating func write<Element>(
      _ elements: [Element], _ open: Unicode.Scalar, _ close: Unicode.Scalar,
      _ body: (inout Writer, Element) -> Void
    ) {
      bytes.append(UInt8(ascii: open))
      level += 1
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        breakLine()
        body(&self, element)
      }
      level -= 1
      if !elements.isEmpty { breakLine() }
      bytes.append(UInt8(ascii: close))
    }

    private mutating func breakLine() {
      guard isPretty else { return }
      bytes.append(UInt8(ascii: "\n"))
      for _ in 0..<level { bytes.append(contentsOf: "  ".utf8) }
    }

    private mutating func write(_ text: String) {
      var text = text
      text.withUTF8 { JSONText.append($0, to: &bytes) }
    }
  }
}
