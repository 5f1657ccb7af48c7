import Foundation

/// The URL of a store, with the options for opening it: `scheme:path?option=value&…`.
///
/// The path is absolute, or relative to the working directory; its `%` escapes are decoded. Examples are
/// `sqlite:movies.sqlite?synchronous=full`, `lmdb:/var/lib/movies` and `memory:`. The scheme may be followed by two
/// slashes: `sqlite:///var/x` has the path `/var/x`, and `sqlite://x` the path `x`.
public struct StoreURL: Sendable, Hashable {
  /// The scheme of the engine, in lower case.
  public let scheme: String

  /// The path, with escapes decoded; may be empty.
  public let path: String

  /// The path as the URL has it, with its escapes: a server's URL has user information, hosts and a database there,
  /// which only an escape keeps apart.
  package let encodedPath: String

  /// Whether two slashes follow the scheme, so that user information may precede the path.
  package let hasSlashes: Bool

  /// The options, by name.
  public let options: [String: String]

  /// Parses a URL.
  ///
  /// - Parameter text: The URL.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` if the scheme is missing, an
  ///   escape is malformed, or an option has no value or occurs twice.
  public init(_ text: String) throws {
    func invalid(_ reason: String) -> PersistenceError {
      PersistenceError(
        .invalidURL,
        "“\(Self.redacted(text))” is not a store URL: \(reason); an example is sqlite:movies.sqlite")
    }
    // Split by bytes, because a combining scalar after a separator would form one character with it.
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex else {
      throw invalid("it has no scheme")
    }
    let scheme = text[..<colon].lowercased()
    guard scheme.unicodeScalars.allSatisfy(Self.isInScheme) else { throw invalid("its scheme is malformed") }
    var rest = text[text.utf8.index(after: colon)...]
    var query: Substring?
    if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
      query = rest[rest.utf8.index(after: mark)...]
      rest = rest[..<mark]
    }
    hasSlashes = rest.utf8.starts(with: "//".utf8)
    if hasSlashes { rest = Substring(rest.utf8.dropFirst(2)) }
    guard let path = Self.withoutEscapes(rest) else { throw invalid("an escape in its path is malformed") }
    guard !path.utf8.contains(0) else { throw invalid("its path contains U+0000") }
    var options: [String: String] = [:]
    for pair in query?.parts("&", omittingEmpty: true) ?? [] {
      let parts = pair.parts("=", maxSplits: 1)
      guard parts.count == 2, let name = Self.withoutEscapes(parts[0]), !name.isEmpty,
        let value = Self.withoutEscapes(parts[1])
      else {
        // What follows an unescaped question mark in a password is no option.
        let name = pair.utf8.contains(UInt8(ascii: "@")) ? "" : " “\(parts[0])”"
        throw invalid("its option\(name) is not of the form name=value")
      }
      guard options.updateValue(value, forKey: name) == nil else {
        throw invalid("its option “\(name)” occurs twice")
      }
    }
    self.scheme = scheme
    self.path = path
    // An escape is longer than what it stands for.
    encodedPath = path.utf8.count == rest.utf8.count ? path : String(rest)
    self.options = options
  }

  /// The URL without secrets: user information, and the values of options with names like a password's.
  package static func redacted(_ text: String) -> String {
    var text = text
    if !text.contains("://"), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      // A name and a password before a host, although the slashes are missing.
      let start = text.utf8.index(after: colon)
      if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")), start < at,
        [":", "%3a"].contains(where: text[start..<at].lowercased().contains),
        text[start...].utf8.first != UInt8(ascii: "/")
      {
        text.replaceSubrange(start..<at, with: "***")
      }
    }
    if let slashes = text.range(of: "://") {
      let rest = text[slashes.upperBound...]
      // A password may contain the end of a host, so too much is hidden rather than too little. A third slash begins
      // a path.
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

  /// The text with percent escapes decoded; nil if an escape is malformed.
  private static func withoutEscapes(_ text: Substring) -> String? {
    text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
  }

  private static func isInScheme(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "0"..."9", "+", "-", ".": true
    default: false
    }
  }
}

extension StoreURL {
  /// Whether two URLs name the same store with the same options, whatever they escape.
  public static func == (left: StoreURL, right: StoreURL) -> Bool {
    left.scheme == right.scheme && left.path == right.path && left.hasSlashes == right.hasSlashes
      && left.options == right.options
  }

  /// Hashes the parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(scheme)
    hasher.combine(path)
    hasher.combine(hasSlashes)
    hasher.combine(options)
  }
}

extension StoreURL: CustomStringConvertible {
  /// The URL with necessary escapes and without secrets.
  public var description: String {
    var path = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    // Two slashes after the scheme would not belong to the path.
    if !hasSlashes, path.utf8.starts(with: "//".utf8) { path = "%2F" + path.dropFirst() }
    let query = options.sorted { $0.key < $1.key }
      .map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.joined(separator: "&")
    return Self.redacted("\(scheme):\(hasSlashes ? "//" : "")\(path)\(query.isEmpty ? "" : "?" + query)")
  }

  /// The name or value of an option, which cannot end where the text does not.
  private static func escaped(_ text: String) -> String {
    let allowed = CharacterSet.urlQueryAllowed.subtracting(CharacterSet(charactersIn: "&="))
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
  }
}
