/// The texts of the doubles that JSON cannot write as numbers.
package enum SpecialNumber {
  package static let nan = "NaN"
  package static let infinity = "Infinity"
  package static let negativeInfinity = "-Infinity"

  /// The number with a text; nil for any other text.
  package static func value(_ text: String) -> Double? {
    switch text {
    case nan: .nan
    case infinity: .infinity
    case negativeInfinity: -.infinity
    default: nil
    }
  }

  /// The text of NaN or an infinity; nil for a finite number.
  package static func text(_ number: Double) -> String? {
    if number.isNaN { return nan }
    return number.isInfinite ? (number < 0 ? negativeInfinity : infinity) : nil
  }
}
