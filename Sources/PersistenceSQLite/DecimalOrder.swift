/// Bytes whose order is that of the decimal numbers that texts stand for (contract V4a).
///
/// A byte for the class (negative, zero, positive, NaN), then for a number 0.d₁d₂… × 10ᵉ its exponent, offset so
/// that it is positive, and its digits; all inverted and closed by FF where the number is negative.
enum DecimalOrder {
  /// The key of a number's text: digits with an optional sign, point and exponent, or `NaN`; nil for any other.
  static func key(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    if text.elementsEqual("NaN".utf8) { return [4] }
    var isNegative = false
    var digits: [UInt8] = []
    var (exponent, written) = (0, 0)
    var (hasPoint, hasDigit) = (false, false)
    var index = 0
    if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
      isNegative = text[index] == UInt8(ascii: "-")
      index += 1
    }
    scan: while index < text.count {
      switch text[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        hasDigit = true
        if digits.isEmpty, text[index] == UInt8(ascii: "0") {
          if hasPoint { exponent -= 1 }
        } else {
          digits.append(text[index])
          if !hasPoint { exponent += 1 }
        }
      case UInt8(ascii: "."):
        guard !hasPoint else { return nil }
        hasPoint = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard let number = Int(String(decoding: text[(index + 1)...], as: UTF8.self)),
          (-9_999...9_999).contains(number)
        else { return nil }
        written = number
        break scan
      default: return nil
      }
      index += 1
    }
    guard hasDigit else { return nil }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    guard !digits.isEmpty else { return [2] }
    let offset = exponent + written + 0x4000
    guard offset >= 0, offset <= 0xFFFF else { return nil }
    let body = [UInt8(offset >> 8), UInt8(offset & 0xFF)] + digits
    return isNegative ? [1] + body.map { ~$0 } + [0xFF] : [3] + body
  }
}
