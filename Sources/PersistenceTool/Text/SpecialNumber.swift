/// The texts of the doubles that JSON has no numbers for.
enum SpecialNumber {
  static let nan = "NaN"
  static let infinity = "Infinity"
  static let negativeInfinity = "-Infinity"

  /// The number that a text stands for.
  static func value(_ text: String) -> Double? {
    switch text {
    case nan: .nan
    case infinity: .infinity
    case negativeInfinity: -.infinity
    default: nil
    }
  }

  /// The text of a number that JSON has none for.
  static func text(_ number: Double) -> String? {
    if number.isNaN { return nan }
    return number.isInfinite ? (number < 0 ? negativeInfinity : infinity) : nil
  }
}
