import PersistenceDriver
import PersistencePrimitives

extension FuzzTarget {
  /// JSON text: whole, at a path, and as the elements of a file.
  static let json = FuzzTarget(name: "json", seeds: Documents.seeds) { bytes in
    var elements = JSONElements(bytes)
    var count = 0
    while try (accepted(JSONSyntaxError.self) { try elements.next() } ?? nil) != nil { count += 1 }
    try require(elements.count == count, "the number of elements is wrong")
    var parser = JSONParser(bytes)
    let part = try accepted(JSONSyntaxError.self) { try parser.parseValue(at: ["a", "b"]) }
    guard let value = try accepted(JSONSyntaxError.self, { try JSONParser.parse(bytes) }) else { return }
    let whole = value.member("a")?.member("b")
    try require(
      (part ?? nil).map { JSONText.canonical($0) } == whole.map { JSONText.canonical($0) },
      "the value at a path differs from the one in the whole text")
    let text = JSONText.canonical(value)
    let again = try JSONParser.parse(text)
    try require(JSONText.canonical(again) == text, "canonical text is not canonical")
    try require(JSONOrder.areEqual(value, again), "a value changes when it is written")
    let pretty = try JSONText.pretty(value).withUnsafeBytes { try JSONParser.parse($0) }
    try require(JSONText.canonical(pretty) == text, "pretty text has another value")
    let unwrapped = JSONDocument.unwrapped(JSONDocument.wrapped(value))
    try require(JSONText.canonical(unwrapped) == text, "a document changes as a member")
  }
}

private enum Documents {
  @Sendable static func seeds() throws -> [[UInt8]] {
    [
      #"{"a":{"b":[1,-0.5e-7,true,null,"\u00e9\n\ud83d\ude00"],"":{}},"c":false}"#,
      #"[{"id":1},{"id":2}]"#, "{\"id\":1}\n{\"id\":2}\n", #"{"$json":null}"#, "\u{FEFF}\"x\"", " 12.50 ",
    ].map { Array($0.utf8) }
  }
}
