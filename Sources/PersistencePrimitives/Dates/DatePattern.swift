/// A pattern of dates as text, such as `dd.MM.yyyy HH:mm`.
package struct DatePattern {
  private enum Part {
    case year, month, day, hour, minute, second, fraction, zone
    case literal(UInt8)
  }

  private static let words: [(String, Part)] = [
    ("yyyy", .year), ("MM", .month), ("dd", .day), ("HH", .hour), ("mm", .minute), ("ss", .second),
    ("SSS", .fraction), ("Z", .zone),
  ]

  private let parts: [Part]

  /// Reads a pattern; nil if it lacks the year, the month or the day, or repeats a part.
  package init?(_ pattern: String) {
    var (rest, parts, seen): (Substring.UTF8View, [Part], Set<String>) = (pattern[...].utf8, [], [])
    while let first = rest.first {
      if let (word, part) = Self.words.first(where: { rest.starts(with: $0.0.utf8) }) {
        guard seen.insert(word).inserted else { return nil }
        parts.append(part)
        rest = rest.dropFirst(word.utf8.count)
      } else {
        parts.append(.literal(first))
        rest = rest.dropFirst()
      }
    }
    guard seen.isSuperset(of: ["yyyy", "MM", "dd"]) else { return nil }
    self.parts = parts
  }

  /// The seconds since 2001, and whether they keep every digit of the text; nil if the text does not match.
  package func moment(_ text: String) -> (seconds: Double, isExact: Bool)? {
    var text = text
    return text.withUTF8 { text in
      var reader = DateFieldReader(text)
      for part in parts {
        let isRead =
          switch part {
          case .year: reader.year()
          case .month: reader.month()
          case .day: reader.day()
          case .hour: reader.hour()
          case .minute: reader.minute()
          case .second: reader.second()
          case .fraction: reader.fraction()
          case .zone: reader.isAtEnd || reader.zone()
          case .literal(let byte): reader.take(byte)
          }
        guard isRead else { return nil }
      }
      return reader.isAtEnd ? reader.fields.moment : nil
    }
  }
}
