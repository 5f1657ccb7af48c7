import Foundation

/// A reader of canonical JSON, which has no white space.
struct FuzzDocumentReader {
  let scalars: [Unicode.Scalar]
  private var position = 0

  init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

  var isAtEnd: Bool { position == scalars.count }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func value() -> FuzzDocument? {
    switch next {
    case "{":
      return list("}") { reader in
        guard let name = reader.string(), reader.skip(":"), let value = reader.value() else { return nil }
        return (name: name, value: value)
      }.map { .object($0) }
    case "[": return list("]") { $0.value() }.map { .array($0) }
    case "\"": return string().map { .text($0) }
    default: return word()
    }
  }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  private mutating func list<Item>(_ end: Unicode.Scalar, _ read: (inout FuzzDocumentReader) -> Item?)
    -> [Item]?
  {
    position += 1
    var items: [Item] = []
    if skip(end) { return items }
    repeat {
      guard let item = read(&self) else { return nil }
      items.append(item)
    } while skip(",")
    return skip(end) ? items : nil
  }

  private mutating func string() -> String? {
    let start = position
    guard skip("\"") else { return nil }
    while let scalar = next, scalar != "\"" { position += scalar == "\\" ? 2 : 1 }
    guard skip("\"") else { return nil }
    let text = String(String.UnicodeScalarView(scalars[start..<position]))
    return try? JSONDecoder().decode(String.self, from: Data(text.utf8))
  }

  private mutating func word() -> FuzzDocument? {
    let start = position
    while let scalar = next, ![",", "]", "}"].contains(scalar) { position += 1 }
    switch String(String.UnicodeScalarView(scalars[start..<position])) {
    case "null": return .null
    case "true": return .truth(true)
    case "false": return .truth(false)
    case let text:
      return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .number($0) }
    }
  }
}
