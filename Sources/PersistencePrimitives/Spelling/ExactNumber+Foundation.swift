package import Foundation

extension ExactNumber {
  /// The decimal number of the same value; nil where it has more digits than a decimal can hold.
  package var decimal: Decimal? {
    guard digits.count <= 38, abs(exponent) <= 127 else { return nil }
    let text = (isNegative ? "-" : "") + digits.map(String.init).joined() + (digits.isEmpty ? "0" : "")
    guard let decimal = Decimal(canonicalText: "\(text)e\(exponent)"),
      ExactNumber(decimal.canonicalText) == self
    else { return nil }
    return decimal
  }

  /// The double whose shortest text has the same value, so that no digit is lost; nil where there is none.
  package var double: Double? {
    let text = (isNegative ? "-" : "") + digits.map(String.init).joined() + (digits.isEmpty ? "0" : "")
    guard let number = Double("\(text)e\(exponent)"), number.isFinite, ExactNumber("\(number)") == self else {
      return nil
    }
    return number
  }
}
