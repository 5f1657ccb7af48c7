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
    let digits = variant == .standard ? standardDigits : urlDigits
    var offset = 0
    while offset < bytes.count {
      let count = min(3, bytes.count - offset)
      var group = UInt32(bytes[offset]) << 16
      if count > 1 { group |= UInt32(bytes[offset + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[offset + 2]) }
      for digit in 0...count { text.append(digits[Int(group >> UInt32(18 - 6 * digit) & 63)]) }
      if variant == .standard {
        for _ in count..<3 { text.append(UInt8(ascii: "=")) }
      }
      offset += 3
    }
  }
}
