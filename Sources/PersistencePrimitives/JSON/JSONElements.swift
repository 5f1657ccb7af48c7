/// Reads the elements of a large array, or the lines of NDJSON, one at a time.
package struct JSONElements {
  package enum Layout: Sendable {
    /// One array.
    case array
    /// Values one after another, separated by white space.
    case lines
  }

  /// The layout, which the first byte determines.
  package let layout: Layout

  /// The number of elements read so far.
  package private(set) var count = 0

  private var parser: JSONParser
  private var isDone = false

  /// Makes a reader over UTF-8 text, which must stay valid while it is used.
  package init(_ bytes: UnsafeRawBufferPointer) {
    parser = JSONParser(bytes, of: .envelope)
    layout = parser.skip("[") ? .array : .lines
  }

  /// The line and column of the next element.
  package var place: (line: Int, column: Int) { parser.place }

  /// The next element; nil at the end, and after an error.
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
    case .lines: return parser.isAtEnd ? nil : try parser.parseValue()
    case .array:
      if parser.skip("]") {
        guard parser.isAtEnd else { throw parser.failure("unexpected text after the array") }
        return nil
      }
      if count > 0, !parser.skip(",") { throw parser.failure("“,” or “]” was expected") }
      return try parser.parseValue()
    }
  }
}
