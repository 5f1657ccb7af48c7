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
    guard Self.isNumber(canonicalText.utf8),
      let number = Decimal(string: canonicalText, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN
    else { return nil }
    self = number
  }

  /// Whether a text is a number as a whole: Foundation reads the number at the beginning of a text, and ignores the rest.
  private static func isNumber(_ text: String.UTF8View) -> Bool {
    var (hasDigit, hasPoint, hasExponent, mayHaveSign) = (false, false, false, true)
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): (hasDigit, mayHaveSign) = (true, false)
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        guard mayHaveSign else { return false }
        mayHaveSign = false
      case UInt8(ascii: "."):
        guard !hasPoint, !hasExponent else { return false }
        (hasPoint, mayHaveSign) = (true, false)
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard hasDigit, !hasExponent else { return false }
        (hasDigit, hasExponent, mayHaveSign) = (false, true, true)
      default: return false
      }
    }
    return hasDigit
  }
}
