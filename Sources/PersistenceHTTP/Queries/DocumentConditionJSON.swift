import PersistenceDriver
import PersistencePrimitives

/// Conditions on parts of documents as members of a JSON object; their operands are plain JSON.
enum DocumentConditionJSON {
  /// Why members are not a condition.
  struct Malformed: Error {
    let reason: String
  }

  static func members(of condition: DocumentCondition) throws -> [JSONMember] {
    switch condition {
    case .comparison(let comparison, let value):
      [JSONMember("is", .string(comparison.rawValue)), JSONMember("value", try json(value))]
    case .contains(let value): [JSONMember("includes", try json(value))]
    case .text(let search, let needle, let isCaseInsensitive):
      [JSONMember(search.rawValue, .string(needle))]
        + (isCaseInsensitive ? [JSONMember("caseInsensitive", .bool(true))] : [])
    }
  }

  /// Reads a condition; throws ``Malformed`` for any other members.
  static func condition(_ members: [JSONMember]) throws -> DocumentCondition {
    let names = Set(members.map(\.name))
    func member(_ name: String) -> JSONValue { members.first { $0.name == name }?.value ?? .null }
    switch names {
    case ["is", "value"]:
      guard case .string(let text) = member("is"),
        let comparison = ComparisonOperator(rawValue: text == "=" ? "==" : text)
      else { throw Malformed(reason: "“is” is one of ==, !=, <, <=, >, >=") }
      return .comparison(comparison, value(member("value")))
    case ["includes"]: return .contains(value(member("includes")))
    default: break
    }
    let words = names.subtracting(["caseInsensitive"])
    guard words.count == 1, let word = words.first, let search = TextOperator(rawValue: word),
      case .string(let needle) = member(word)
    else {
      throw Malformed(
        reason: "a condition on a part of a document has “is” and “value”, “includes”, or a search in text")
    }
    guard names.count == 2 else { return .text(search, needle, isCaseInsensitive: false) }
    guard case .bool(let isCaseInsensitive) = member("caseInsensitive") else {
      throw Malformed(reason: "“caseInsensitive” is true or false")
    }
    return .text(search, needle, isCaseInsensitive: isCaseInsensitive)
  }

  private static func json(_ value: PersistentValue) throws -> JSONValue {
    guard case .document(let text) = value else { return .null }
    return try JSONParser.parse(text)
  }

  private static func value(_ json: JSONValue) -> PersistentValue {
    json.isNull ? .null : .document(JSONText.canonical(json))
  }
}
