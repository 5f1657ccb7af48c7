import PersistenceDriver

/// Documents in their canonical text.
enum JSONDocument {
  /// The canonical text of JSON.
  ///
  /// - Throws: `JSONSyntaxError`.
  static func canonical(_ text: String) throws -> String { JSONText.canonical(try JSONParser.parse(text)) }
}
