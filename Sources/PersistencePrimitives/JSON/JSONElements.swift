/// Reads the elements of a huge array, or the lines of NDJSON, one at a time.
package struct JSONElements {
  /// What the text holds.
  package enum Layout: Sendable {
    /// One array.
    case array
    /// Values one after another, separated by white space.
    case lines
  }

  /// What the text holds, by its first byte.
  package let layout: Layout

  /// How many elements have been read.
  package private(set) var count = 0

  private var parser: JSONParser
  private var isDone = false

  /// Makes a reader over UTF-8 text, which must stay valid while it is used.
  package init(_ bytes: UnsafeRawBufferPointer) {
    parser = JSONParser(bytes)
    layout = parser.skip("[") ? .array : .lines
  }

  /// The line and column at which the next element is looked for.
  package var place: (line: Int, column: Int) { parser.place }

  /// The next element; nil at the end.
  ///
  /// - Throws: ``JSONSyntaxError``; then the end is reached.
  package mutating func next() throws(JSONSyntaxError) -> JSONValue? {
    guard !isDone else { return nil }
    do {
      let value = try read()
      if value == nil { isDone = true } else { count += 1 }
      return value
    } catch {
      isDone = true
      throw error
    }
  }

  private mutating func read() throws(JSONSyntaxError) -> JSONValue? {
    switch layout {
    case .lines:
      return parser.isAtEnd ? nil : try parser.parseValue()
    case .array:
      if parser.skip("]") {
        guard parser.isAtEnd else { throw parser.failure("something follows the array") }
        return nil
      }
      if count > 0, !parser.skip(",") { throw parser.failure("“,” or “]” was expected") }
      return try parser.parseValue()
    }
  }
}
