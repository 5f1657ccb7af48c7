/// Documents as canonical text, and as members of records.
///
/// `null` as a member means that the field is nil. So a document that is `null` is wrapped in an object whose
/// only member is `$json`. A document that is such an object itself is wrapped too.
package enum JSONDocument {
  package static func canonical(_ text: String) throws -> String {
    JSONText.canonical(try JSONParser.parse(text))
  }

  /// A document as the member of a record.
  package static func wrapped(_ value: JSONValue) -> JSONValue {
    if case .null = value { return .object([JSONMember(wrapper, value)]) }
    return content(of: value) == nil ? value : .object([JSONMember(wrapper, value)])
  }

  /// The document of a member of a record.
  package static func unwrapped(_ value: JSONValue) -> JSONValue { content(of: value) ?? value }

  private static let wrapper = "$json"

  private static func content(of value: JSONValue) -> JSONValue? {
    guard case .object(let members) = value, members.count == 1, members[0].name == wrapper else {
      return nil
    }
    return members[0].value
  }
}
