/// A day of the proleptic Gregorian calendar.
///
/// Both directions follow Howard Hinnant, “chrono-Compatible Low-Level Date Algorithms”: years are counted
/// from March, so that the leap day is the last of its year.
struct CivilDate: Equatable {
  private static let daysOfEra = 146_097
  /// Days from 0000-03-01 to 2001-01-01.
  private static let reference = 730_791

  var year, month, day: Int

  /// The days from 2001-01-01 to this date; nil if the calendar has no such date.
  var daysSince2001: Int? {
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days =
      era * Self.daysOfEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.reference
    // The formula carries a 31st of April over to May.
    return day <= 28 || CivilDate(daysSince2001: days) == self ? days : nil
  }
}

extension CivilDate {
  /// The date that lies a number of days after 2001-01-01.
  init(daysSince2001 days: Int) {
    let (era, dayOfEra) = floorDivide(days + Self.reference, by: Self.daysOfEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}

/// The quotient, rounded down, and the remainder, which is never negative.
func floorDivide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
  let remainder = ((number % divisor) + divisor) % divisor
  return ((number - remainder) / divisor, remainder)
}
