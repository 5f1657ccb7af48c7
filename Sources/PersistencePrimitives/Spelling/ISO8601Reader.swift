/// Moments as people and other programs write them in ISO 8601: everything that ``DateText`` writes, and more.
package enum ISO8601Reader {
  /// Days from 1970-01-01 to 2001-01-01.
  private static let referenceDay = 11_323
  private static let secondsOfDay = 86_400

  /// The moment that a text stands for; nil where it stands for none.
  ///
  /// A date alone, or with a time, a fraction and a zone, UTC where there is none; or `@` and seconds.
  package static func seconds(_ text: String) -> Double? { moment(text)?.seconds }

  /// The moment that a text stands for, and whether its digits can be had back from it; nil where it stands for none.
  package static func moment(_ text: String) -> (seconds: Double, isExact: Bool)? {
    if text.utf8.first == UInt8(ascii: "@") {
      let digits = String(text.dropFirst())
      return distant(digits).map { ($0, isExact($0, digits)) }
    }
    var reader = ISO8601FieldReader(text)
    guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
      let day = reader.digits(2)
    else { return nil }
    var moment = Civil(year: year, month: month, day: day)
    if reader.take("T") || reader.take("t") || reader.take(" ") {
      guard let hour = reader.digits(2), reader.take(":"), let minute = reader.digits(2)
      else { return nil }
      (moment.hour, moment.minute) = (hour, minute)
      if reader.take(":") {
        guard let second = reader.digits(2) else { return nil }
        moment.second = second
        if reader.take(".") {
          guard let digits = reader.run() else { return nil }
          moment.fraction = digits
        }
      }
      guard let offset = reader.zone() else { return nil }
      moment.offset = offset
    }
    guard reader.isAtEnd else { return nil }
    return moment.moment
  }

  /// A moment as calendars and clocks say it.
  package struct Civil {
    package var year, month, day: Int
    package var hour = 0
    package var minute = 0
    package var second = 0
    /// The digits behind the point of the second.
    package var fraction = ""
    /// The zone, in seconds east of UTC.
    package var offset = 0

    /// Begins with a day.
    package init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// The seconds since 2001, and whether the digits of the fraction can be had back from them; nil where there is no
    /// such moment.
    package var moment: (seconds: Double, isExact: Bool)? {
      guard (1...9999).contains(year), (1...12).contains(month),
        (1...ISO8601Reader.length(of: month, year)).contains(day),
        hour < 24, minute < 60, second < 60
      else { return nil }
      let days = ISO8601Reader.days(year, month, day) - ISO8601Reader.referenceDay
      return ISO8601Reader.number(
        days * ISO8601Reader.secondsOfDay + hour * 3600 + minute * 60 + second - offset, fraction)
    }
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

  private static func number(_ total: Int, _ fraction: String) -> (seconds: Double, isExact: Bool)? {
    let digits =
      total < 0 && fraction.contains { $0 != "0" }
      ? "-\(-total - 1).\(complement(fraction))" : "\(total).\(fraction.isEmpty ? "0" : fraction)"
    return Double(digits).map { (TotalOrder.normalized($0), isExact($0, digits)) }
  }

  /// Whether a double's shortest digits are the ones that were written: none is lost then.
  private static func isExact(_ number: Double, _ digits: String) -> Bool {
    !number.isFinite || ExactNumber("\(number)") == ExactNumber(digits)
  }

  /// The digits of 1 − 0.digits.
  private static func complement(_ fraction: String) -> String {
    var digits = fraction.utf8.map { $0 - UInt8(ascii: "0") }
    while digits.last == 0 { digits.removeLast() }
    for index in digits.indices { digits[index] = (index == digits.count - 1 ? 10 : 9) - digits[index] }
    return digits.map(String.init).joined()
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
}
