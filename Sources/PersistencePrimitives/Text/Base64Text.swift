/// Writes Base64 (RFC 4648).
package enum Base64Text {
  /// The digits 62 and 63 of a text, and whether padding ends it.
  package enum Variant: Sendable {
    /// `+` and `/`, with padding.
    case standard
    /// `-` and `_`, without padding: for URLs and headers.
    case url
  }

  private static let standardDigits = digits("+/")
  private static let urlDigits = digits("-_")

  private static func digits(_ last: String) -> [UInt8] {
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
  }

  /// Appends the text of bytes.
  package static func append(_ bytes: UnsafeRawBufferPointer, _ variant: Variant, to text: inout [UInt8]) {
    (variant == .standard ? standardDigits : urlDigits).withUnsafeBufferPointer { digits in
      var offset = 0
      while offset + 3 <= bytes.count {
        let group = Self.group(bytes, from: offset, count: 3)
        // Four digits are appended as one word, the first one in the lowest byte.
        var word: UInt32 = 0
        for digit in 0..<4 {
          word |= UInt32(digits[Self.index(of: digit, in: group)]) &<< UInt32(8 * digit)
        }
        withUnsafeBytes(of: word.littleEndian) { text.append(contentsOf: $0) }
        offset += 3
      }
      let count = bytes.count - offset
      guard count > 0 else { return }
      let group = Self.group(bytes, from: offset, count: count)
      for digit in 0...count { text.append(digits[Self.index(of: digit, in: group)]) }
      if variant == .standard {
        for _ in count..<3 { text.append(UInt8(ascii: "=")) }
      }
    }
  }

  /// Up to three bytes as a number of 24 bits.
  private static func group(_ bytes: UnsafeRawBufferPointer, from offset: Int, count: Int) -> UInt32 {
    var group = UInt32(bytes[offset]) &<< 16
    if count > 1 { group |= UInt32(bytes[offset + 1]) &<< 8 }
    if count > 2 { group |= UInt32(bytes[offset + 2]) }
    return group
  }

  /// The value of one of the four digits of a group.
  private static func index(of digit: Int, in group: UInt32) -> Int {
    Int(group &>> UInt32(18 - 6 * digit) & 63)
  }
}
