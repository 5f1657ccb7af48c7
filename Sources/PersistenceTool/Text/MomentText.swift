import PersistenceDriver

/// Moments as ISO 8601 text in UTC, exactly: the decimal digits of the stored seconds stand behind the point.
///
/// Moments outside the years 0001 to 9999, or so close to 2001 that their seconds are written with an exponent, are
/// `@` and the seconds, such as `@1e+300` and `@inf`: the same text as in a JSON directory.
enum MomentText {
  /// Days from 1970-01-01 to 2001-01-01.
  private static let referenceDay = 11_323
  private static let secondsOfDay = 86_400
  /// The years 0001 to 9999.
  private static let range = -63_113_904_000.0...252_423_993_599.0

  /// The text of a moment, from which ``seconds(_:)`` makes the same one, to the bit.
  static func text(_ seconds: Double) -> String {
    let text = "\(seconds)"
    guard range.contains(seconds), !text.utf8.contains(UInt8(ascii: "e")), let exact = ExactNumber(text)
    else {
      return "@\(text)"
    }
    let parts = exact.plainParts
    var fraction = parts.fraction
    guard var total = Int(parts.whole) else { return "@\(text)" }
    if exact.isNegative {
      total = -total
      if !fraction.isEmpty {
        // −1.25 is second −2 and the fraction .75.
        total -= 1
        fraction = complement(fraction)
      }
    }
    let day = (total >= 0 ? total : total - secondsOfDay + 1) / secondsOfDay
    let second = total - day * secondsOfDay
    let date = civil(day + referenceDay)
    let time =
      "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
      + (fraction.isEmpty ? "" : "." + fraction) + "Z"
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(time)"
  }

  /// The moment that a text stands for; nil where it stands for none.
  ///
  /// A date alone, or with a time, a fraction and a zone, UTC where there is none; or `@` and seconds.
  static func seconds(_ text: String) -> Double? {
    if text.utf8.first == UInt8(ascii: "@") { return distant(String(text.dropFirst())) }
    var reader = MomentReader(text)
    guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
      let day = reader.digits(2), (1...12).contains(month), (1...length(of: month, year)).contains(day)
    else { return nil }
    var total = (days(year, month, day) - referenceDay) * secondsOfDay
    var fraction = ""
    if reader.take("T") || reader.take("t") || reader.take(" ") {
      guard let hour = reader.digits(2), hour < 24, reader.take(":"), let minute = reader.digits(2),
        minute < 60
      else { return nil }
      total += hour * 3600 + minute * 60
      if reader.take(":") {
        guard let second = reader.digits(2), second < 60 else { return nil }
        total += second
        if reader.take(".") {
          guard let digits = reader.run() else { return nil }
          fraction = digits
        }
      }
      guard let offset = reader.zone() else { return nil }
      total -= offset
    }
    guard reader.isAtEnd else { return nil }
    return number(total, fraction)
  }

  private static func distant(_ text: String) -> Double? {
    switch text {
    case "nan": .nan
    case "inf": .infinity
    case "-inf": -.infinity
    default:
      ExactNumber(text) == nil ? nil : Double(text).flatMap { $0.isFinite ? TotalOrder.normalized($0) : nil }
    }
  }

  private static func number(_ total: Int, _ fraction: String) -> Double? {
    guard total < 0, fraction.contains(where: { $0 != "0" }) else {
      return Double("\(total).\(fraction.isEmpty ? "0" : fraction)").map(TotalOrder.normalized)
    }
    return Double("-\(-total - 1).\(complement(fraction))")
  }

  /// The digits of 1 − 0.digits.
  private static func complement(_ fraction: String) -> String {
    var digits = fraction.utf8.map { $0 - UInt8(ascii: "0") }
    while digits.last == 0 { digits.removeLast() }
    for index in digits.indices { digits[index] = (index == digits.count - 1 ? 10 : 9) - digits[index] }
    return digits.map(String.init).joined()
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func length(of month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar (Howard Hinnant, “chrono-Compatible
  /// Low-Level Date Algorithms”, days_from_civil).
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day counted from 1970-01-01 (the same source, civil_from_days).
  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }
}
