/// Reads dates as people and other programs write them in ISO 8601: the forms of ``DateText``, and more.
///
/// A date may have no time, which means midnight. The time may have no seconds, and may follow a space or
/// `t`. A time may have an offset, such as `+01:00` or `+0100`; without one it is in UTC.
package enum ISO8601Reader {
  /// The seconds since 2001; nil if the text is not a date.
  package static func seconds(_ text: String) -> Double? {
    read(text, number: { $0.seconds }, fields: \.seconds)
  }

  /// The seconds since 2001, and whether they keep every digit of the text; nil if the text is not a date.
  package static func moment(_ text: String) -> (seconds: Double, isExact: Bool)? {
    read(text, number: { $0 }, fields: \.moment)
  }

  private static func read<Result>(
    _ text: String, number: ((seconds: Double, isExact: Bool)) -> Result, fields: (DateFields) -> Result?
  ) -> Result? {
    var text = text
    return text.withUTF8 { text in
      if let found = DateText.number(text) { return number(found) }
      var reader = DateFieldReader(text)
      guard reader.date() else { return nil }
      if reader.take("T") || reader.take("t") || reader.take(" ") {
        guard reader.hour(), reader.take(":"), reader.minute(),
          !reader.take(":") || (reader.second() && (!reader.take(".") || reader.fraction())),
          reader.isAtEnd || reader.zone()
        else { return nil }
      }
      return reader.isAtEnd ? fields(reader.fields) : nil
    }
  }
}
