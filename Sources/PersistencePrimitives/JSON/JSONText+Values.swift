package import Foundation

/// Values as JSON in their canonical spellings, without a text of their own for each.
extension JSONText {
  /// Appends an integer.
  package static func append(integer: Int64, to bytes: inout [UInt8]) {
    // Nineteen digits and a sign.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { text in
      var start = 20
      var rest = integer.magnitude
      // Two digits with each division, from the end.
      while rest >= 10 {
        let pair = UInt8(truncatingIfNeeded: rest % 100)
        rest /= 100
        start -= 2
        text[start] = UInt8(ascii: "0") + pair / 10
        text[start + 1] = UInt8(ascii: "0") + pair % 10
      }
      if rest > 0 || start == 20 {
        start -= 1
        text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
      }
      if integer < 0 {
        start -= 1
        text[start] = UInt8(ascii: "-")
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: UnsafeBufferPointer(text)[start...]))
    }
  }

  /// Appends a double as its shortest text: −0.0 as 0.0, and NaN and the infinities as strings.
  package static func append(double: Double, to bytes: inout [UInt8]) {
    let number = TotalOrder.normalized(double)
    // A whole number below 2^53 has no shorter text than all its digits.
    if number.magnitude < 0x1p53, let whole = Int64(exactly: number) {
      append(integer: whole, to: &bytes)
      bytes.append(UInt8(ascii: "."))
      bytes.append(UInt8(ascii: "0"))
    } else if let special = SpecialNumber.text(number) {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: special.utf8)
      bytes.append(UInt8(ascii: "\""))
    } else {
      bytes.append(contentsOf: number.description.utf8)
    }
  }

  /// Appends a date, in seconds since 2001, as the string of ``DateText``.
  package static func append(date seconds: Double, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    DateText.append(TotalOrder.normalized(seconds), to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends a UUID as a string in upper case.
  package static func append(uuid: UUID, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    withUnsafeBytes(of: uuid.uuid) { digits in
      for (position, byte) in digits.enumerated() {
        let startsGroup = position == 4 || position == 6 || position == 8 || position == 10
        if startsGroup { bytes.append(UInt8(ascii: "-")) }
        bytes.append(hexadecimalDigit(byte >> 4))
        bytes.append(hexadecimalDigit(byte & 15))
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  /// Appends bytes as a string in Base64.
  package static func append(base64 data: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    Base64Text.append(data, .standard, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }
}
