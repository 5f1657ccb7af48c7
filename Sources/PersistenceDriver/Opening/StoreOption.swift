/// An option of an engine's URLs, with the values that it accepts.
public struct StoreOption: Sendable, Hashable {
  /// The values that an option accepts.
  public enum Values: Sendable, Hashable {
    /// One of these words.
    case choice([String])
    /// `true` or `false`.
    case flag
    /// An integer in a range.
    case integer(ClosedRange<Int>)
    /// A number of bytes, such as `4096`, `64KiB`, `1MiB`, `2GiB` or `1TiB`, in a range.
    case bytes(ClosedRange<Int>)
    /// A duration, such as `500ms`, `5s` or `2min`.
    case duration
    /// Any text.
    case text
  }

  /// The option's name in a URL.
  public let name: String
  /// The values that the option accepts.
  public let values: Values
  /// The effect of the option, in one line.
  public let summary: String

  /// Declares an option.
  public init(_ name: String, _ values: Values, _ summary: String) {
    self.name = name
    self.values = values
    self.summary = summary
  }

  /// The accepted values as text.
  package var accepted: String {
    switch values {
    case .choice(let words): words.joined(separator: ", ")
    case .flag: "true, false"
    case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
    case .bytes(let range):
      "a number of bytes from \(range.lowerBound) to \(range.upperBound), optionally with KiB, MiB, GiB or TiB"
    case .duration: "a duration such as 500ms, 5s or 2min"
    case .text: "any text"
    }
  }
}

/// The validated options of a URL: each is an option of the engine, with an accepted value.
public struct StoreOptions: Sendable {
  private let url: StoreURL

  /// Validates the options of a URL; an error names the known options.
  package init(_ url: StoreURL, known: [StoreOption]) throws {
    self.url = url
    for (name, value) in url.options.sorted(by: { $0.key < $1.key }) {
      guard let option = known.first(where: { $0.name == name }) else {
        let advice =
          known.isEmpty ? "remove it" : "the options are " + known.map(\.name).joined(separator: ", ")
        throw PersistenceError(
          .invalidURL, "\(url.scheme): has no option “\(name)”; \(advice)", location: "\(url)")
      }
      guard option.accepts(value) else {
        throw PersistenceError(
          .invalidURL, "the option \(name) cannot be “\(value)”; it accepts \(option.accepted)",
          location: "\(url)")
      }
    }
  }

  /// The value of an option as text; nil if the URL does not have it.
  public subscript(_ name: String) -> String? { url.options[name] }

  /// The value of a ``StoreOption/Values-swift.enum/flag``; nil if the URL does not have it.
  public func flag(_ name: String) -> Bool? { self[name].map { $0 == "true" } }

  /// The value of an ``StoreOption/Values-swift.enum/integer(_:)``; nil if the URL does not have it.
  public func integer(_ name: String) -> Int? { self[name].flatMap { Int($0) } }

  /// The value of a ``StoreOption/Values-swift.enum/bytes(_:)``; nil if the URL does not have it.
  public func bytes(_ name: String) -> Int? { self[name].flatMap(StoreOption.parseBytes) }

  /// The names in a list separated by commas, where a backslash escapes the next character; nil if the URL does not have
  /// the option.
  package func names(_ name: String) -> [String]? {
    guard let list = self[name] else { return nil }
    var names = [""]
    var isLiteral = false
    for character in list.unicodeScalars {
      if !isLiteral, character == "\\" {
        isLiteral = true
      } else if !isLiteral, character == "," {
        names.append("")
      } else {
        names[names.count - 1].unicodeScalars.append(character)
        isLiteral = false
      }
    }
    return names.filter { !$0.isEmpty }
  }

  /// The value of a ``StoreOption/Values-swift.enum/duration``; nil if the URL does not have it.
  public func duration(_ name: String) -> Duration? { self[name].flatMap(StoreOption.parseDuration) }
}

extension StoreOption {
  func accepts(_ value: String) -> Bool {
    switch values {
    case .choice(let words): words.contains(value)
    case .flag: value == "true" || value == "false"
    case .integer(let range): Int(value).map(range.contains) ?? false
    case .bytes(let range): Self.parseBytes(value).map(range.contains) ?? false
    case .duration: Self.parseDuration(value) != nil
    case .text: true
    }
  }

  static func parseBytes(_ text: String) -> Int? {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]
    for (unit, shift) in units where text.hasSuffix(unit) {
      guard let number = Int(text.dropLast(3)), number >= 0 else { return nil }
      let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
      return overflow ? nil : bytes
    }
    return Int(text).flatMap { $0 >= 0 ? $0 : nil }
  }

  static func parseDuration(_ text: String) -> Duration? {
    let units = [("ms", 1), ("min", 60_000), ("s", 1_000)]
    for (unit, milliseconds) in units where text.hasSuffix(unit) {
      guard let number = Int(text.dropLast(unit.count)), number >= 0, number <= 1_000_000_000 else {
        return nil
      }
      return .milliseconds(number * milliseconds)
    }
    return nil
  }
}
