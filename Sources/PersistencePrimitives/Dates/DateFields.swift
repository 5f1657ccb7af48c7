/// A date and a time as calendars and clocks show them.
struct DateFields {
  var date = CivilDate(year: 0, month: 0, day: 0)
  var hour = 0
  var minute = 0
  var second = 0
  /// The digits after the decimal point of the second, in UTF-8.
  var fraction = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
  /// The distance of the time zone from UTC, in seconds east.
  var offset = 0

  /// The seconds since 2001, rounded to the nearest double; nil if there is no such date or time.
  var seconds: Double? {
    guard let wholeSeconds else { return nil }
    let digits = significantFraction
    guard !digits.isEmpty else { return Double(wholeSeconds) }
    var mantissa = Int64(wholeSeconds)
    for digit in digits where mantissa.magnitude < 1 << 53 {
      mantissa = mantissa * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return ShortDecimal.double(mantissa, exponent: -digits.count)
      ?? Double(Self.decimal(wholeSeconds, digits))
  }

  /// The seconds since 2001, and whether they keep every digit; nil if there is no such date or time.
  var moment: (seconds: Double, isExact: Bool)? {
    guard let wholeSeconds, let seconds else { return nil }
    let digits = Self.decimal(wholeSeconds, significantFraction)
    return (seconds, ExactNumber("\(seconds)") == ExactNumber(digits))
  }

  private var wholeSeconds: Int? {
    guard (1...9999).contains(date.year), hour < 24, minute < 60, second < 60, let days = date.daysSince2001
    else { return nil }
    return days * 86_400 + hour * 3600 + minute * 60 + second - offset
  }

  /// The digits of the fraction without the zeros at the end.
  private var significantFraction: UnsafeBufferPointer<UInt8>.SubSequence {
    var digits = fraction[...]
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return digits
  }

  /// The sum of whole seconds, which may be negative, and a fraction, which is not, in decimal digits.
  private static func decimal(_ whole: Int, _ digits: some Collection<UInt8>) -> String {
    guard whole < 0, !digits.isEmpty else {
      return digits.isEmpty ? "\(whole)" : "\(whole).\(String(decoding: digits, as: UTF8.self))"
    }
    return "-\(-(whole + 1)).\(String(decoding: complement(digits), as: UTF8.self))"
  }

  /// One minus a decimal fraction whose last digit is not zero.
  static func complement(_ digits: some Collection<UInt8>) -> [UInt8] {
    var result = digits.map { UInt8(ascii: "9") - ($0 - UInt8(ascii: "0")) }
    if !result.isEmpty { result[result.count - 1] += 1 }
    return result
  }
}
