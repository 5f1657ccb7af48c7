/// Encodes a condition as an object with named members, in the form of the server's queries, but with the kind of each
/// value: `{"field": "year", "is": ">=", "value": {"integer": 1970}}`.
///
/// ```json
/// {"all": [{"field": "rating", "in": [{"text": "G"}, {"text": "PG"}]},
///          {"field": "budget", "between": [{"double": "1e6"}, {"double": "1e7"}]},
///          {"not": {"field": "title", "hasPrefix": "the ", "caseInsensitive": true}},
///          {"field": "gross", "is": ">", "other": "budget"}, {"constant": true}]}
/// ```
extension PredicateNode: Codable {
  private struct Key: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral: String) { stringValue = stringLiteral }
    init?(intValue: Int) { nil }
  }

  private typealias Members = KeyedDecodingContainer<Key>

  /// Encodes the condition.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    switch self {
    case .constant(let truth): try members.encode(truth, forKey: "constant")
    case .comparison(let field, let comparison, let value):
      try members.encode(field, forKey: "field")
      try members.encode(comparison, forKey: "is")
      try members.encode(value, forKey: "value")
    case .fieldComparison(let left, let comparison, let right):
      try members.encode(left, forKey: "field")
      try members.encode(comparison, forKey: "is")
      try members.encode(right, forKey: "other")
    case .isIn(let field, let values):
      try members.encode(field, forKey: "field")
      try members.encode(values, forKey: "in")
    case .isBetween(let field, let lower, let upper):
      try members.encode(field, forKey: "field")
      try members.encode([lower, upper], forKey: "between")
    case .text(let field, let search, let needle, let isCaseInsensitive):
      try members.encode(field, forKey: "field")
      try members.encode(needle, forKey: Key(stringValue: search.rawValue))
      if isCaseInsensitive { try members.encode(true, forKey: "caseInsensitive") }
    case .document(let field, let path, let condition):
      try members.encode(field, forKey: "field")
      try members.encode(path, forKey: "path")
      try Self.encode(condition, into: &members)
    case .related(let relation):
      try members.encode(relation.field, forKey: Key(stringValue: relation.side.rawValue))
      try members.encode(relation.model, forKey: "model")
      try members.encode(relation.condition, forKey: "where")
    case .all(let nodes): try members.encode(nodes, forKey: "all")
    case .any(let nodes): try members.encode(nodes, forKey: "any")
    case .not(let node): try members.encode(node, forKey: "not")
    }
  }

  /// Decodes a condition, also in the form of earlier versions, whose members were named after positions.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    let names = Set(members.allKeys.map(\.stringValue))
    if names.count == 1, let name = names.first {
      if let earlier = try Self.earlier(name, members) {
        self = earlier
        return
      }
      switch name {
      case "constant": self = .constant(try members.decode(Bool.self, forKey: "constant"))
      case "all": self = .all(try members.decode([PredicateNode].self, forKey: "all"))
      case "any": self = .any(try members.decode([PredicateNode].self, forKey: "any"))
      case "not": self = .not(try members.decode(PredicateNode.self, forKey: "not"))
      default: throw Self.malformed(decoder)
      }
      return
    }
    for side in [RelatedCondition.Side.target, .referrers] where names.contains(side.rawValue) {
      guard names == [side.rawValue, "model", "where"] else { throw Self.malformed(decoder) }
      self = .related(
        RelatedCondition(
          side, field: try members.decode(String.self, forKey: Key(stringValue: side.rawValue)),
          model: try members.decode(String.self, forKey: "model"),
          try members.decode(PredicateNode.self, forKey: "where")))
      return
    }
    let field = try members.decode(String.self, forKey: "field")
    if names.contains("path") {
      self = .document(
        field: field, path: try members.decode([String].self, forKey: "path"),
        try Self.condition(members, names.subtracting(["field", "path"]), decoder))
      return
    }
    switch names.subtracting(["field"]) {
    case ["is", "value"]:
      self = .comparison(
        field: field, try members.decode(ComparisonOperator.self, forKey: "is"),
        try members.decode(PersistentValue.self, forKey: "value"))
    case ["is", "other"]:
      self = .fieldComparison(
        left: field, try members.decode(ComparisonOperator.self, forKey: "is"),
        right: try members.decode(String.self, forKey: "other"))
    case ["in"]: self = .isIn(field: field, try members.decode([PersistentValue].self, forKey: "in"))
    case ["between"]:
      let bounds = try members.decode([PersistentValue].self, forKey: "between")
      guard bounds.count == 2 else { throw Self.malformed(decoder) }
      self = .isBetween(field: field, lower: bounds[0], upper: bounds[1])
    case let rest:
      let words = rest.subtracting(["caseInsensitive"])
      guard words.count == 1, let word = words.first, let search = TextOperator(rawValue: word) else {
        throw Self.malformed(decoder)
      }
      self = .text(
        field: field, search, try members.decode(String.self, forKey: Key(stringValue: word)),
        isCaseInsensitive: try members.decodeIfPresent(Bool.self, forKey: "caseInsensitive") ?? false)
    }
  }

  private static func encode(
    _ condition: DocumentCondition, into members: inout KeyedEncodingContainer<Key>
  ) throws {
    switch condition {
    case .comparison(let comparison, let value):
      try members.encode(comparison, forKey: "is")
      try members.encode(value, forKey: "value")
    case .contains(let value): try members.encode(value, forKey: "includes")
    case .text(let search, let needle, let isCaseInsensitive):
      try members.encode(needle, forKey: Key(stringValue: search.rawValue))
      if isCaseInsensitive { try members.encode(true, forKey: "caseInsensitive") }
    }
  }

  /// The condition on a part of a document, from the members besides the field and the path.
  private static func condition(
    _ members: Members, _ names: Set<String>, _ decoder: any Decoder
  ) throws -> DocumentCondition {
    switch names {
    case ["is", "value"]:
      return .comparison(
        try members.decode(ComparisonOperator.self, forKey: "is"),
        try members.decode(PersistentValue.self, forKey: "value"))
    case ["includes"]: return .contains(try members.decode(PersistentValue.self, forKey: "includes"))
    default:
      let words = names.subtracting(["caseInsensitive"])
      guard words.count == 1, let word = words.first, let search = TextOperator(rawValue: word) else {
        throw malformed(decoder)
      }
      return .text(
        search, try members.decode(String.self, forKey: Key(stringValue: word)),
        isCaseInsensitive: try members.decodeIfPresent(Bool.self, forKey: "caseInsensitive") ?? false)
    }
  }

  private static func malformed(_ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a condition was expected"))
  }

  /// Decodes the form of earlier versions, which layers have stored; nil for any other form.
  private static func earlier(_ name: String, _ members: Members) throws -> PredicateNode? {
    guard let old = try? members.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: name)) else {
      return nil
    }
    switch name {
    case "comparison":
      return .comparison(
        field: try old.decode(String.self, forKey: "field"),
        try old.decode(ComparisonOperator.self, forKey: "_1"),
        try old.decode(PersistentValue.self, forKey: "_2"))
    case "fieldComparison":
      return .fieldComparison(
        left: try old.decode(String.self, forKey: "left"),
        try old.decode(ComparisonOperator.self, forKey: "_1"),
        right: try old.decode(String.self, forKey: "right"))
    case "isIn":
      return .isIn(
        field: try old.decode(String.self, forKey: "field"),
        try old.decode([PersistentValue].self, forKey: "_1"))
    case "isBetween":
      return .isBetween(
        field: try old.decode(String.self, forKey: "field"),
        lower: try old.decode(PersistentValue.self, forKey: "lower"),
        upper: try old.decode(PersistentValue.self, forKey: "upper"))
    case "text":
      return .text(
        field: try old.decode(String.self, forKey: "field"), try old.decode(TextOperator.self, forKey: "_1"),
        try old.decode(String.self, forKey: "_2"),
        isCaseInsensitive: try old.decode(Bool.self, forKey: "isCaseInsensitive"))
    case _ where !old.contains("_0"): return nil
    case "constant": return .constant(try old.decode(Bool.self, forKey: "_0"))
    case "all": return .all(try old.decode([PredicateNode].self, forKey: "_0"))
    case "any": return .any(try old.decode([PredicateNode].self, forKey: "_0"))
    case "not": return .not(try old.decode(PredicateNode.self, forKey: "_0"))
    default: return nil
    }
  }
}
