import Foundation

/// Where a store is and how it is opened, as one line of configuration: `scheme:path?option=value&…`.
///
/// The path is taken as it stands, with `%` escapes decoded: relative to the working directory, or absolute.
/// `sqlite:movies.sqlite?synchronous=full`, `lmdb:/var/lib/movies`, `memory:`. Two slashes after the scheme are
/// allowed, so `sqlite:///var/x` is the path `/var/x` and `sqlite://x` the path `x`.
public struct StoreURL: Sendable, Hashable {
  /// The scheme, in lower case: which engine.
  public let scheme: String

  /// The path, with escapes decoded; empty where there is none.
  public let path: String

  /// Whether two slashes follow the scheme, so that user information may stand before the path.
  private let hasSlashes: Bool

  /// The options, by name.
  public let options: [String: String]

  /// Parses a URL.
  ///
  /// - Parameter text: The URL.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where there is no scheme, an
  ///   escape is malformed, or an option has no value or stands twice.
  public init(_ text: String) throws {
    func invalid(_ reason: String) -> PersistenceError {
      PersistenceError(
        .invalidURL,
        "“\(Self.redacted(text))” is no store URL: \(reason); one looks like sqlite:movies.sqlite")
    }
    // By bytes: what follows a separator may be a scalar that would combine with it to one character.
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex else {
      throw invalid("it names no scheme")
    }
    let scheme = text[..<colon].lowercased()
    guard scheme.utf8.allSatisfy(Self.isSchemeByte) else { throw invalid("its scheme is malformed") }
    var rest = text[text.utf8.index(after: colon)...]
    var query: Substring?
    if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
      query = rest[rest.utf8.index(after: mark)...]
      rest = rest[..<mark]
    }
    hasSlashes = rest.utf8.starts(with: "//".utf8)
    if hasSlashes { rest = Substring(rest.utf8.dropFirst(2)) }
    guard let path = Self.withoutEscapes(rest) else { throw invalid("an escape in its path is malformed") }
    guard !path.utf8.contains(0) else { throw invalid("its path holds U+0000") }
    var options: [String: String] = [:]
    for pair in (query ?? "").parts("&", omittingEmpty: true) {
      let parts = pair.parts("=", maxSplits: 1)
      guard parts.count == 2, let name = Self.withoutEscapes(parts[0]), !name.isEmpty,
        let value = Self.withoutEscapes(parts[1])
      else { throw invalid("its option “\(parts[0])” is not of the form name=value") }
      guard options.updateValue(value, forKey: name) == nil else {
        throw invalid("its option “\(name)” stands twice")
      }
    }
    self.scheme = scheme
    self.path = path
    self.options = options
  }

  /// The URL without what may be secret: user information and the values of options named like a password.
  public static func redacted(_ text: String) -> String {
    var text = text
    if let slashes = text.range(of: "://") {
      let rest = text[slashes.upperBound...]
      // A password may hold what ends a host elsewhere: rather too much is hidden. A third slash begins a path.
      if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")), rest.utf8.first != UInt8(ascii: "/") {
        text.replaceSubrange(slashes.upperBound..<at, with: "***")
      }
    }
    guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
    let query = text.utf8.index(after: mark)
    let shown = text[query...].parts("&").map { pair -> String in
      let name = pair.parts("=")[0].lowercased()
      let isSecret = ["password", "secret", "token", "key"].contains { name.contains($0) }
      return isSecret ? "\(name)=***" : String(pair)
    }
    return text[..<query] + shown.joined(separator: "&")
  }

  /// The text that percent-encoded text stands for; nil where an escape is malformed.
  private static func withoutEscapes(_ text: Substring) -> String? {
    text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

extension StoreURL: CustomStringConvertible {
  /// The URL, escapes made anew where they are needed and secrets hidden.
  public var description: String {
    let path = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    let query = options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    return Self.redacted("\(scheme):\(hasSlashes ? "//" : "")\(path)\(query.isEmpty ? "" : "?" + query)")
  }
}
