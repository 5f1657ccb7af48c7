/// Reads the fields of a date from text, from left to right: the parser of every date format.
///
/// Each method reads one field and returns false if the text continues differently.
struct DateFieldReader {
  private let text: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// The fields read so far.
  private(set) var fields = DateFields()

  /// Makes a reader of UTF-8 text, which must stay valid while the fields are used.
  init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  /// Whether the reader has consumed the whole text.
  var isAtEnd: Bool { position == text.count }

  mutating func take(_ byte: UInt8) -> Bool {
    guard position < text.count, text[position] == byte else { return false }
    position += 1
    return true
  }

  mutating func take(_ character: Unicode.Scalar) -> Bool { take(UInt8(ascii: character)) }

  mutating func year() -> Bool { Self.read(4, of: text, &position, into: &fields.date.year) }
  mutating func month() -> Bool { Self.read(2, of: text, &position, into: &fields.date.month) }
  mutating func day() -> Bool { Self.read(2, of: text, &position, into: &fields.date.day) }
  mutating func hour() -> Bool { Self.read(2, of: text, &position, into: &fields.hour) }
  mutating func minute() -> Bool { Self.read(2, of: text, &position, into: &fields.minute) }
  mutating func second() -> Bool { Self.read(2, of: text, &position, into: &fields.second) }

  /// Reads `2010-07-16`.
  mutating func date() -> Bool { year() && take("-") && month() && take("-") && day() }

  /// Reads the digits of a fraction: one or more.
  mutating func fraction() -> Bool {
    let start = position
    while position < text.count, Self.digit(text[position]) != nil { position += 1 }
    fields.fraction = UnsafeBufferPointer(rebasing: text[start..<position])
    return position > start
  }

  /// Reads `Z`, `+01:00` or `+0100`.
  mutating func zone() -> Bool {
    if take("Z") || take("z") { return true }
    let isNegative = take("-")
    var (hours, minutes) = (0, 0)
    guard isNegative || take("+"), Self.read(2, of: text, &position, into: &hours), hours < 24 else {
      return false
    }
    _ = take(":")
    guard Self.read(2, of: text, &position, into: &minutes), minutes < 60 else { return false }
    fields.offset = (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
    return true
  }

  private static func read(
    _ count: Int, of text: UnsafeBufferPointer<UInt8>, _ position: inout Int, into number: inout Int
  ) -> Bool {
    guard text.count - position >= count else { return false }
    number = 0
    for byte in text[position..<position + count] {
      guard let digit = digit(byte) else { return false }
      number = number * 10 + digit
    }
    position += count
    return true
  }

  private static func digit(_ byte: UInt8) -> Int? {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int(byte - UInt8(ascii: "0")) : nil
  }
}
