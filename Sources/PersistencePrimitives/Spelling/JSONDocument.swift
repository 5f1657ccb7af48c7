/// Documents in their canonical text.
package enum JSONDocument {
  /// The canonical text of JSON.
  ///
  /// - Throws: `JSONSyntaxError`.
  package static func canonical(_ text: String) throws -> String {
    JSONText.canonical(try JSONParser.parse(text))
  }

  /// A document as it stands in a record, where `null` would be no document.
  package static func wrapped(_ value: JSONValue) -> JSONValue {
    if case .null = value { return .object([JSONMember(wrapper, value)]) }
    return content(of: value) == nil ? value : .object([JSONMember(wrapper, value)])
  }

  /// The document that stands in a record: the other way.
  package static func unwrapped(_ value: JSONValue) -> JSONValue { content(of: value) ?? value }

  private static let wrapper = "$json"

  private static func content(of value: JSONValue) -> JSONValue? {
    guard case .object(let members) = value, members.count == 1, members[0].name == wrapper else {
      return nil
    }
    return members[0].value
  }
}
