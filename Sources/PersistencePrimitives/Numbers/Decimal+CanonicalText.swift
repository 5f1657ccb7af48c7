public import Foundation

extension Decimal {
  /// The canonical text: plain digits, no exponent, no trailing zeros after the decimal point; `NaN` for NaN.
  ///
  /// Equal numbers have equal texts, so the texts can be compared and hashed.
  public var canonicalText: String {
    guard !isNaN else { return "NaN" }
    let text = description
    guard text.utf8.contains(UInt8(ascii: ".")) else { return text == "-0" ? "0" : text }
    var digits = Substring(text)
    while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
    if digits.utf8.last == UInt8(ascii: ".") { digits.removeLast() }
    return digits == "-0" || digits.isEmpty ? "0" : String(digits)
  }

  /// Reads the text of a number.
  ///
  /// - Parameter canonicalText: Digits with an optional sign, decimal point and exponent, or `NaN`; any other
  ///   text gives nil.
  public init?(canonicalText: String) {
    if canonicalText == "NaN" {
      self = .nan
      return
    }
    var hasDigit = false
    for byte in canonicalText.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
      case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
        break
      default: return nil
      }
    }
    guard hasDigit, let number = Decimal(string: canonicalText, locale: Locale(identifier: "en_US_POSIX")),
      !number.isNaN
    else { return nil }
    self = number
  }
}
