import PersistenceDriver

/// The query parameters of a URL, without unknown or repeated names.
package struct QueryParameters: Sendable {
  private var values: [String: String] = [:]

  /// Reads the part of a URL after the question mark; `known` is nil to accept any name.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if a name is unknown
  ///   or repeated, or an escape is malformed.
  package init(_ text: Substring?, known: Set<String>?) throws {
    for pair in (text ?? "").parts("&", omittingEmpty: true) {
      let parts = pair.parts("=", maxSplits: 1)
      guard let name = PathSegment.text(parts[0], plusIsSpace: true),
        let value = PathSegment.text(parts.count == 2 ? parts[1] : "", plusIsSpace: true)
      else { throw PersistenceError.invalidRequest("an escape in the URL's parameters is malformed") }
      if let known, !known.contains(name) {
        throw PersistenceError.invalidRequest(
          "there is no parameter “\(name.prefix(40))”"
            + (known.isEmpty ? "; there are none" : "; there are \(known.sorted().joined(separator: ", "))"))
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw PersistenceError.invalidRequest("the parameter “\(name)” occurs twice")
      }
    }
  }

  /// The value of a parameter; nil if the URL lacks it.
  package subscript(_ name: String) -> String? { values[name] }

  /// The value of a parameter as a non-negative integer.
  package func count(_ name: String) throws -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), number >= 0, "\(number)" == text else {
      throw PersistenceError.invalidRequest("“\(name)” is a whole number, 0 or more")
    }
    return number
  }
}
