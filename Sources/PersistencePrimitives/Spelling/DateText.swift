/// Dates as text that a person can read and that reads back to the bit (contract V2).
///
/// `2010-07-16T00:00:00Z`, with as many digits after the second as the date has in its shortest exact decimal form.
/// The seconds since 2001 are a decimal number; splitting it at the whole second below, and putting it together
/// again, is exact in decimal arithmetic, so the same double comes back. Dates outside the years 0001 to 9999, or
/// too close to 2001 to be written without an exponent, are `@` and the seconds themselves, such as `@1e+300`;
/// NaN and the infinities are `@nan`, `@inf` and `@-inf`.
package enum DateText {
  private static let range = -63_113_904_000.0...252_423_993_599.0  // the years 0001 to 9999

  /// The text of a moment, from which ``seconds(_:)`` makes the same one.
  package static func text(_ seconds: Double) -> String {
    let exact = "\(seconds)"
    guard range.contains(seconds), !exact.utf8.contains(UInt8(ascii: "e")) else { return "@\(exact)" }
    let parts = exact.split(separator: ".")
    var digits = parts.count == 2 && parts[1] != "0" ? Array(parts[1].utf8) : []
    guard var whole = Int64(parts[0]) else { return "@\(exact)" }
    if seconds < 0, !digits.isEmpty {
      // −12.25 is 0.75 seconds after −13: the digits are taken from the next whole second.
      whole -= 1
      digits = complement(digits)
    }
    let fraction = digits.isEmpty ? "" : "." + String(decoding: digits, as: UTF8.self)
    let (days, time) = floorDivide(whole, by: 86_400)
    let (year, month, day) = civil(fromDays: days + 11_323)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(time / 3600, 2)):"
      + "\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))\(fraction)Z"
  }

  /// The moment that a text of ``text(_:)`` stands for; nil where it is none.
  package static func seconds(_ text: String) -> Double? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// The same, of UTF-8.
  package static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    if text.first == UInt8(ascii: "@") { return number(String(decoding: text.dropFirst(), as: UTF8.self)) }
    var place = 0
    func digit(_ place: Int) -> Int64? {
      guard place < text.count, text[place] >= UInt8(ascii: "0"), text[place] <= UInt8(ascii: "9") else {
        return nil
      }
      return Int64(text[place] - UInt8(ascii: "0"))
    }
    func take(_ count: Int) -> Int64? {
      var number: Int64 = 0
      for _ in 0..<count {
        guard let digit = digit(place) else { return nil }
        number = number * 10 + digit
        place += 1
      }
      return number
    }
    func skip(_ byte: Unicode.Scalar) -> Bool {
      guard place < text.count, text[place] == UInt8(ascii: byte) else { return false }
      place += 1
      return true
    }
    guard let year = take(4), skip("-"), let month = take(2), skip("-"), let day = take(2), skip("T"),
      let hour = take(2), skip(":"), let minute = take(2), skip(":"), let second = take(2),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    var digits: [UInt8] = []
    if skip(".") {
      let start = place
      while digit(place) != nil { place += 1 }
      guard place > start else { return nil }
      digits = Array(text[start..<place])
      while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    }
    guard skip("Z"), place == text.count else { return nil }
    let days = days(fromCivil: (year, month, day)) - 11_323
    guard civil(fromDays: days + 11_323) == (year, month, day) else { return nil }
    return seconds(days * 86_400 + hour * 3600 + minute * 60 + second, digits)
  }

  /// The double nearest to whole seconds and a decimal fraction of a second after them.
  private static func seconds(_ whole: Int64, _ digits: [UInt8]) -> Double? {
    guard !digits.isEmpty else { return Double(whole) }
    var mantissa = whole
    for digit in digits where mantissa.magnitude < 1 << 53 {
      mantissa = mantissa * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    if let short = ShortDecimal.double(mantissa, exponent: -digits.count) { return short }
    guard whole < 0 else { return Double("\(whole).\(String(decoding: digits, as: UTF8.self))") }
    return Double("-\(-(whole + 1)).\(String(decoding: complement(digits), as: UTF8.self))")
  }

  /// Doubles as Swift prints them, the infinities and NaN included.
  static func number(_ text: String) -> Double? {
    switch text {
    case "nan": .nan
    case "inf": .infinity
    case "-inf": -.infinity
    default:
      text.utf8.allSatisfy { "0123456789+-.e".utf8.contains($0) }
        ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }
  }

  /// One minus a decimal fraction whose last digit is not zero.
  private static func complement(_ digits: [UInt8]) -> [UInt8] {
    var result = digits.map { UInt8(ascii: "9") - ($0 - UInt8(ascii: "0")) }
    result[result.count - 1] += 1
    return result
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }

  private static func floorDivide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
    let remainder = ((number % divisor) + divisor) % divisor
    return ((number - remainder) / divisor, remainder)
  }

  /// The day of the Gregorian calendar, from days since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level
  /// Date Algorithms").
  private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
    let (era, dayOfEra) = floorDivide(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let civilMonth = month < 10 ? month + 3 : month - 9
    return (yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, day)
  }

  private static func days(fromCivil date: (year: Int64, month: Int64, day: Int64)) -> Int64 {
    let (era, yearOfEra) = floorDivide(date.month <= 2 ? date.year - 1 : date.year, by: 400)
    let month = date.month > 2 ? date.month - 3 : date.month + 9
    let dayOfYear = (153 * month + 2) / 5 + date.day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
