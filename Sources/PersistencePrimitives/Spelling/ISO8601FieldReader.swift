/// Reads the parts of an ISO 8601 text from left to right.
package struct ISO8601FieldReader {
  private var rest: Substring.UTF8View

  /// Begins at the beginning.
  package init(_ text: String) { rest = Substring(text).utf8 }

  /// Whether everything has been read.
  package var isAtEnd: Bool { rest.isEmpty }

  /// Reads a character, where it stands there.
  package mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, UInt32(byte) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads a number of so many digits.
  package mutating func digits(_ count: Int) -> Int? {
    let part = rest.prefix(count)
    guard part.count == count, part.allSatisfy(Self.isDigit), let number = Int(String(Substring(part))) else {
      return nil
    }
    rest = rest.dropFirst(count)
    return number
  }

  /// Reads digits, as many as there are, at least one.
  package mutating func run() -> String? {
    let part = rest.prefix(while: Self.isDigit)
    guard !part.isEmpty, part.count <= 400 else { return nil }
    rest = rest.dropFirst(part.count)
    return String(Substring(part))
  }

  /// Reads a zone, in seconds east of UTC; none is UTC.
  package mutating func zone() -> Int? {
    if rest.isEmpty || take("Z") || take("z") { return 0 }
    let isNegative = take("-")
    guard isNegative || take("+"), let hours = digits(2), hours < 24 else { return nil }
    _ = take(":")
    guard let minutes = digits(2), minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
