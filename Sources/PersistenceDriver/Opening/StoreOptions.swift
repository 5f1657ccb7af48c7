/// The options of a URL, checked against those that an engine knows: every one is known and has a good value.
public struct StoreOptions: Sendable {
  private let url: StoreURL

  /// Checks the options of a URL.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - known: The options that the engine knows.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL``, listing what is known.
  public init(_ url: StoreURL, known: [StoreOption]) throws {
    self.url = url
    for (name, value) in url.options.sorted(by: { $0.key < $1.key }) {
      guard let option = known.first(where: { $0.name == name }) else {
        let list = known.map(\.name).joined(separator: ", ")
        throw PersistenceError(
          .invalidURL,
          "\(url.scheme): stores have no option “\(name)”; "
            + (known.isEmpty ? "they have none" : "theirs are \(list)"), location: "\(url)")
      }
      guard option.accepts(value) else {
        throw PersistenceError(
          .invalidURL, "the option \(name) cannot be “\(value)”; it takes \(option.accepted)",
          location: "\(url)")
      }
    }
  }

  /// The value of an option as text; nil where it was not given.
  public subscript(_ name: String) -> String? { url.options[name] }

  /// The value of a ``StoreOption/Values-swift.enum/flag``; nil where it was not given.
  public func flag(_ name: String) -> Bool? { self[name].map { $0 == "true" } }

  /// The value of an ``StoreOption/Values-swift.enum/integer(_:)``; nil where it was not given.
  public func integer(_ name: String) -> Int? { self[name].flatMap { Int($0) } }

  /// The value of a ``StoreOption/Values-swift.enum/bytes(_:)``; nil where it was not given.
  public func bytes(_ name: String) -> Int? { self[name].flatMap(StoreOption.parseBytes) }

  /// The value of a ``StoreOption/Values-swift.enum/duration``; nil where it was not given.
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
