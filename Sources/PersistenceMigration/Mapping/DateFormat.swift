import PersistenceDriver
import PersistencePrimitives

/// A format of dates in text or numbers.
public enum DateFormat: Sendable, Hashable, Codable {
  /// ISO 8601 text, such as `2001-12-31`, `2001-12-31 23:59` or `2001-12-31T23:59:59.5+01:00`; UTC without an
  /// offset.
  case iso8601
  /// Text of a pattern: `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss`, `SSS` for a fraction of any length, and `Z` for
  /// an offset.
  ///
  /// Any other text is literal. Without an offset the date is in UTC.
  case pattern(String)
  /// Seconds since 1970.
  case unix
  /// Milliseconds since 1970.
  case unixMilliseconds
  /// Microseconds since 1970.
  case unixMicroseconds
  /// Seconds since 2001, as in this package and Apple's frameworks.
  case since2001
  /// The Julian day, as in SQLite's `julianday`.
  case julianDay

  static let names: [(name: String, format: DateFormat)] = [
    ("iso8601", .iso8601), ("unix", .unix), ("unix-ms", .unixMilliseconds), ("unix-us", .unixMicroseconds),
    ("2001", .since2001), ("julian", .julianDay),
  ]

  var name: String {
    if case .pattern(let pattern) = self { return pattern }
    return Self.names.first { $0.format == self }?.name ?? ""
  }

  /// Whether the format is for text, not of numbers.
  var isText: Bool {
    switch self {
    case .iso8601, .pattern: true
    default: false
    }
  }

  /// The seconds since 2001, and whether they keep every digit of the text; nil if the text does not match.
  func seconds(ofText text: String) -> (seconds: Double, isExact: Bool)? {
    switch self {
    case .iso8601: ISO8601Reader.moment(text)
    case .pattern(let pattern): DatePattern(pattern)?.moment(text)
    default: nil
    }
  }

  /// The seconds since 2001, and whether they convert back to the number; nil for a text format.
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
    // Whole numbers come back by rounding, so they stay distinct as long as neighbours do.
    let isWhole = number.rounded() == number && number.magnitude < 0x1p53 && unit >= 1
    return (seconds, isWhole ? back.rounded() == number : back == number)
  }
}
