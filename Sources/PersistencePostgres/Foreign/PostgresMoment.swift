/// Dates as PostgreSQL's moments: microseconds since 2000-01-01 00:00:00 UTC, with two for the infinities.
enum PostgresMoment {
  static let microsecondsOfDay: Int64 = 86_400_000_000

  /// From 2000-01-01, the server's origin, to 2001-01-01, that of dates.
  private static let offset: Int64 = 366 * 86_400_000_000

  /// The moments that the server stores, from 4714-11-24 BC to the end of 294276, without the infinities.
  static let range: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

  /// The date of a moment: the double that is nearest to it.
  static func seconds(_ moment: Int64) -> Double {
    guard moment != .max, moment != .min else { return moment < 0 ? -.infinity : .infinity }
    let (microseconds, overflow) = moment.subtractingReportingOverflow(offset)
    guard !overflow else { return -.infinity }
    // A division of two exact numbers rounds once.
    if microseconds.magnitude <= 1 << 53 { return Double(microseconds) / 1_000_000 }
    let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return Double(whole) + Double(rest) / 1_000_000
  }

  /// The end of the range, in seconds since the origin of dates.
  private static let end = Double((range.upperBound - offset) / 1_000_000)

  /// The moment nearest to a date; nil for NaN, and outside of the server's range.
  static func nearest(to seconds: Double) -> Int64? {
    if seconds.isInfinite { return seconds < 0 ? .min : .max }
    guard abs(seconds) < end else { return nil }
    // Both parts are exact, and no sum overflows.
    let whole = seconds.rounded(.down)
    let moment = Int64(whole) * 1_000_000 + Int64(((seconds - whole) * 1_000_000).rounded()) + offset
    return range.contains(moment) ? moment : nil
  }

  /// The date of a moment, if it stands for this moment only; nil if neighbours have the same date, as some do that are
  /// more than 272 years away from 2001.
  static func exactSeconds(_ moment: Int64) -> Double? {
    guard moment == .min || moment == .max || range.contains(moment) else { return nil }
    let seconds = seconds(moment)
    return nearest(to: seconds) == moment ? seconds : nil
  }

  /// The date of a day, which the server counts from 2000-01-01; days have two infinities too.
  static func seconds(ofDay day: Int32) -> Double {
    switch day {
    case .max: .infinity
    case .min: -.infinity
    default: Double(Int64(day) - 366) * 86_400
    }
  }
}

/// The moments around a date, of those that a column stores.
struct PostgresMomentBounds {
  /// The last moment that is not after the date, and the first that is not before it.
  let (last, first): (Int64, Int64)

  /// Nil if the moments around the date are unknown: for NaN, outside of the server's range, and where neighbouring
  /// moments have the same date.
  init?(around seconds: Double, step: Int64) {
    guard let nearest = PostgresMoment.nearest(to: seconds) else { return nil }
    guard seconds.isFinite else {
      (last, first) = (nearest, nearest)
      return
    }
    guard abs(seconds) < 8_589_934_592 || seconds == seconds.rounded() else { return nil }
    var below = nearest
    while PostgresMoment.seconds(below) > seconds { below -= 1 }
    let remainder = ((below % step) + step) % step
    let last = below - remainder
    let isThere = PostgresMoment.seconds(last) == seconds
    let first = isThere ? last : last + step
    guard PostgresMoment.range.contains(last), PostgresMoment.range.contains(first) else { return nil }
    (self.last, self.first) = (last, first)
  }
}
