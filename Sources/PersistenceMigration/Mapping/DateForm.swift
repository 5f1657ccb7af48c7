import PersistenceDriver
import PersistencePrimitives

/// How a moment stands in a text or a number.
public enum DateForm: Sendable, Hashable, Codable {
  /// Text as in ISO 8601, such as `2001-12-31`, `2001-12-31 23:59` and `2001-12-31T23:59:59.5+01:00`; UTC where it names
  /// no zone.
  case iso8601
  /// Text of a pattern: `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss`, `SSS` for the digits of a fraction of any length, and `Z`
  /// for a zone stand for themselves, all else for itself; UTC where there is no zone.
  case pattern(String)
  /// A number: seconds since 1970.
  case unix
  /// A number: milliseconds since 1970.
  case unixMilliseconds
  /// A number: microseconds since 1970.
  case unixMicroseconds
  /// A number: seconds since 2001, as this package and Apple's frameworks count.
  case since2001
  /// A number: the Julian day, as SQLite's `julianday` counts.
  case julianDay

  static let words: [(word: String, form: DateForm)] = [
    ("iso8601", .iso8601), ("unix", .unix), ("unix-ms", .unixMilliseconds), ("unix-us", .unixMicroseconds),
    ("2001", .since2001), ("julian", .julianDay),
  ]

  /// The form as rules name it.
  var word: String {
    if case .pattern(let pattern) = self { return pattern }
    return Self.words.first { $0.form == self }?.word ?? ""
  }

  /// Whether it is a form of texts, not of numbers.
  var isText: Bool {
    switch self {
    case .iso8601, .pattern: true
    default: false
    }
  }

  /// The seconds since 2001 that a text stands for, and whether its digits can be had back from them; nil where it is
  /// not of this form.
  func moment(_ text: String) -> (seconds: Double, isExact: Bool)? {
    switch self {
    case .iso8601: ISO8601Reader.moment(text)
    case .pattern(let pattern): ISO8601Pattern(pattern)?.moment(text)
    default: nil
    }
  }

  /// The seconds since 2001 that a number stands for, and whether the number can be had back from them; nil where the
  /// form is one of texts.
  func seconds(_ number: Double) -> (seconds: Double, isExact: Bool)? {
    let (epoch, unit): (Double, Double)
    switch self {
    case .iso8601, .pattern: return nil
    case .since2001: return (number, true)
    case .unix: (epoch, unit) = (978_307_200, 1)
    case .unixMilliseconds: (epoch, unit) = (978_307_200_000, 1000)
    case .unixMicroseconds: (epoch, unit) = (978_307_200_000_000, 1_000_000)
    case .julianDay: (epoch, unit) = (2_451_910.5, 1 / 86_400)
    }
    guard number.isFinite else { return (number, true) }
    let seconds = (number - epoch) / unit
    guard seconds.isFinite else { return nil }
    let back = seconds * unit + epoch
    // Whole numbers come back by rounding; so they are told apart as long as neighbours are.
    let isWhole = number.rounded() == number && number.magnitude < 0x1p53 && unit >= 1
    return (seconds, isWhole ? back.rounded() == number : back == number)
  }
}

/// A pattern of a date as text.
struct ISO8601Pattern {
  private enum Part {
    case year, month, day, hour, minute, second, fraction, zone
    case literal(Unicode.Scalar)
  }

  private static let words: [(String, Part)] = [
    ("yyyy", .year), ("MM", .month), ("dd", .day), ("HH", .hour), ("mm", .minute), ("ss", .second),
    ("SSS", .fraction), ("Z", .zone),
  ]

  private let parts: [Part]

  /// Reads a pattern; nil where it names no year, month and day.
  init?(_ pattern: String) {
    var (rest, parts, seen): (Substring, [Part], Set<String>) = (pattern[...], [], [])
    while let first = rest.unicodeScalars.first {
      if let (word, part) = Self.words.first(where: { rest.hasPrefix($0.0) }) {
        guard seen.insert(word).inserted else { return nil }
        parts.append(part)
        rest = rest.dropFirst(word.count)
      } else {
        parts.append(.literal(first))
        rest = Substring(rest.unicodeScalars.dropFirst())
      }
    }
    guard seen.isSuperset(of: ["yyyy", "MM", "dd"]) else { return nil }
    self.parts = parts
  }

  /// The seconds since 2001 that a text of the pattern stands for, and whether its digits can be had back from them.
  func moment(_ text: String) -> (seconds: Double, isExact: Bool)? {
    var reader = ISO8601FieldReader(text)
    var moment = ISO8601Reader.Civil(year: 0, month: 0, day: 0)
    for part in parts {
      switch part {
      case .year: guard let number = reader.digits(4) else { return nil }; moment.year = number
      case .month: guard let number = reader.digits(2) else { return nil }; moment.month = number
      case .day: guard let number = reader.digits(2) else { return nil }; moment.day = number
      case .hour: guard let number = reader.digits(2) else { return nil }; moment.hour = number
      case .minute: guard let number = reader.digits(2) else { return nil }; moment.minute = number
      case .second: guard let number = reader.digits(2) else { return nil }; moment.second = number
      case .fraction: guard let digits = reader.run() else { return nil }; moment.fraction = digits
      case .zone: guard let offset = reader.zone() else { return nil }; moment.offset = offset
      case .literal(let scalar): guard reader.take(scalar) else { return nil }
      }
    }
    return reader.isAtEnd ? moment.moment : nil
  }
}
