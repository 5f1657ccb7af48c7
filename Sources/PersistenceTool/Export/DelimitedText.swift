import PersistenceDriver

/// Writes CSV as RFC 4180 describes it.
enum DelimitedText {
  /// One record with its line end.
  ///
  /// - Parameter fields: The fields; nil is written as nothing, the empty text as `""`, so that the two stay
  ///   different.
  /// - Returns: The record as text.
  static func line(_ fields: [String?]) -> String {
    fields.map { $0.map(field) ?? "" }.joined(separator: ",") + "\r\n"
  }

  private static func field(_ text: String) -> String {
    let needsQuotes =
      text.isEmpty
      || text.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D, 0x20, 0x09].contains($0) }
      || text.unicodeScalars.first == "\u{FEFF}"
    return needsQuotes ? "\"" + text.doubling("\"") + "\"" : text
  }
}
