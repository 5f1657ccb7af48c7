/// The canonical text of dates: readable, and exact to the bit (contract V2).
///
/// A date is `2010-07-16T00:00:00Z`, with as many digits after the second as its shortest exact decimal form
/// has. The seconds since 2001 are a decimal number. Splitting that number at the whole second and joining it
/// again is exact in decimal arithmetic, so the same double comes back. Dates outside the years 0001 to 9999,
/// and dates so close to 2001 that their number has an exponent, are `@` and the seconds, such as `@1e+300`.
/// NaN and the infinities are `@nan`, `@inf` and `@-inf`.
package enum DateText {
  private static let range = -63_113_904_000.0...252_423_993_599.0  // the years 0001 to 9999

  /// The canonical text of a number of seconds since 2001.
  package static func text(_ seconds: Double) -> String {
    if range.contains(seconds), let whole = Int(exactly: seconds) { return text(whole, []) }
    let exact = "\(seconds)"
    guard range.contains(seconds), !exact.utf8.contains(UInt8(ascii: "e")) else { return "@\(exact)" }
    let parts = exact.utf8.split(separator: UInt8(ascii: "."))
    guard parts.count == 2, var whole = Int(Substring(parts[0])) else { return "@\(exact)" }
    var digits = Array(parts[1])
    if seconds < 0 {
      // −12.25 is 0.75 seconds after −13: the digits are taken from the next whole second.
      whole -= 1
      digits = DateFields.complement(digits)
    }
    return text(whole, digits)
  }

  /// Appends the canonical text of a number of seconds since 2001.
  package static func append(_ seconds: Double, to bytes: inout [UInt8]) {
    guard let characters = characters(seconds) else {
      bytes.append(contentsOf: text(seconds).utf8)
      return
    }
    withUnsafeBytes(of: characters) { bytes.append(contentsOf: $0) }
  }

  /// The twenty characters of a whole number of seconds since 2001, as they lie in memory; nil for any other number.
  static func characters(_ seconds: Double) -> (UInt64, UInt64, UInt32)? {
    guard range.contains(seconds), let whole = Int(exactly: seconds) else { return nil }
    let (days, time) = floorDivide(whole, by: 86_400)
    let date = CivilDate(daysSince2001: days)
    // As words, the first character in the lowest byte.
    let (century, year) = (digits(date.year / 100, at: 0), digits(date.year % 100, at: 2))
    let (month, day) = (digits(date.month, at: 5), digits(date.day, at: 0))
    let (hour, minute) = (digits(time / 3600, at: 3), digits(time / 60 % 60, at: 6))
    let second = UInt32(truncatingIfNeeded: digits(time % 60, at: 1))
    let marks: (UInt64, UInt64, UInt32) = (0x2D00_002D_0000_0000, 0x0000_3A00_0054_0000, 0x5A00_003A)
    // ....-..- and ..T..:.. and :..Z
    return (
      (century | year | month | marks.0).littleEndian, (day | hour | minute | marks.1).littleEndian,
      (second | marks.2).littleEndian
    )
  }

  /// The two digits of a number below a hundred, from a byte of a word on.
  private static func digits(_ number: Int, at byte: UInt64) -> UInt64 {
    let number = UInt64(truncatingIfNeeded: number)
    let pair: UInt64 = 0x3030 | (number / 10) | ((number % 10) &<< 8)
    return pair &<< (8 * byte)
  }

  /// The text of whole seconds since 2001 and the digits of a fraction.
  private static func text(_ whole: Int, _ digits: [UInt8]) -> String {
    let (days, time) = floorDivide(whole, by: 86_400)
    let date = CivilDate(daysSince2001: days)
    let numbers =
      [
        (date.year, 4, "-"), (date.month, 2, "-"), (date.day, 2, "T"), (time / 3600, 2, ":"),
        (time / 60 % 60, 2, ":"), (time % 60, 2, digits.isEmpty ? "Z" : "."),
      ] as [(Int, Int, Unicode.Scalar)]
    return String(unsafeUninitializedCapacity: 21 + digits.count) { text in
      var count = 0
      for (number, width, end) in numbers {
        var rest = number
        for place in (count..<count + width).reversed() {
          text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        text[count + width] = UInt8(ascii: end)
        count += width + 1
      }
      guard !digits.isEmpty else { return count }
      for digit in digits {
        text[count] = digit
        count += 1
      }
      text[count] = UInt8(ascii: "Z")
      return count + 1
    }
  }

  /// The seconds of a canonical text; nil for any other text.
  package static func seconds(_ text: String) -> Double? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// The seconds of a canonical text in UTF-8; nil for any other text.
  package static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    if let number = number(text) { return number.seconds }
    var reader = DateFieldReader(text)
    guard reader.date(), reader.take("T"), reader.hour(), reader.take(":"), reader.minute(), reader.take(":"),
      reader.second(), !reader.take(".") || reader.fraction(), reader.take("Z"), reader.isAtEnd
    else { return nil }
    return reader.fields.seconds
  }

  /// The seconds of a text such as `@1e+300`, and whether they keep every digit; nil for any other text.
  static func number(_ text: UnsafeBufferPointer<UInt8>) -> (seconds: Double, isExact: Bool)? {
    guard text.first == UInt8(ascii: "@") else { return nil }
    let digits = String(decoding: text.dropFirst(), as: UTF8.self)
    switch digits {
    case "nan": return (.nan, true)
    case "inf": return (.infinity, true)
    case "-inf": return (-.infinity, true)
    default:
      guard let exact = ExactNumber(digits), let seconds = Double(decimal: digits) else { return nil }
      return (seconds, ExactNumber("\(seconds)") == exact)
    }
  }
}
