/// One option that an engine's URLs may carry, with the values that it takes.
public struct StoreOption: Sendable, Hashable {
  /// What values an option takes.
  public enum Values: Sendable, Hashable {
    /// One of these words.
    case choice([String])
    /// `true` or `false`.
    case flag
    /// A whole number in a range.
    case integer(ClosedRange<Int>)
    /// A number of bytes, such as `4096`, `64KiB`, `1MiB`, `2GiB` or `1TiB`, in a range.
    case bytes(ClosedRange<Int>)
    /// A time, such as `500ms`, `5s` or `2min`.
    case duration
    /// Any text.
    case text
  }

  /// The option's name in a URL.
  public let name: String
  /// The values that it takes.
  public let values: Values
  /// What it does, in one line.
  public let summary: String

  /// Declares an option.
  public init(_ name: String, _ values: Values, _ summary: String) {
    self.name = name
    self.values = values
    self.summary = summary
  }

  /// The values that it takes, in words.
  public var accepted: String {
    switch values {
    case .choice(let words): words.joined(separator: ", ")
    case .flag: "true, false"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .bytes(let range):
      "a number of bytes from \(range.lowerBound) to \(range.upperBound), with KiB, MiB, GiB or TiB if wished"
    case .duration: "a time such as 500ms, 5s or 2min"
    case .text: "any text"
    }
  }
}
