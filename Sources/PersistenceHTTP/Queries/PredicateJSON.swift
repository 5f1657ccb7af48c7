package import PersistenceDriver
import PersistencePrimitives

/// Conditions as JSON.
///
/// ```json
/// {"all": [{"field": "rating", "is": "==", "value": "PG-13"}, {"field": "budget", "between": [1e6, 1e7]},
///          {"not": {"field": "title", "hasPrefix": "The "}},
///          {"field": "address", "path": ["city"], "is": "==", "value": "Berlin"},
///          {"field": "tags", "path": [], "includes": "new"}]}
/// ```
package enum PredicateJSON {
  package static func json(_ node: PredicateNode, _ schema: ModelSchema) throws -> JSONValue {
    func operand(_ value: PersistentValue, _ name: String) throws -> JSONValue {
      try OperandJSON.json(value, for: try schema.requiredField(named: name))
    }
    switch node {
    case .constant(let truth): return .bool(truth)
    case .comparison(let name, let comparison, let value):
      return [
        "field": .string(name), "is": .string(comparison.rawValue), "value": try operand(value, name),
      ]
    case .fieldComparison(let left, let comparison, let right):
      return ["field": .string(left), "is": .string(comparison.rawValue), "other": .string(right)]
    case .isIn(let name, let values):
      return ["field": .string(name), "in": .array(try values.map { try operand($0, name) })]
    case .isBetween(let name, let lower, let upper):
      return [
        "field": .string(name), "between": [try operand(lower, name), try operand(upper, name)],
      ]
    case .text(let name, let search, let needle, let isCaseInsensitive):
      return .object(
        [JSONMember("field", .string(name)), JSONMember(search.rawValue, .string(needle))]
          + (isCaseInsensitive ? [JSONMember("caseInsensitive", .bool(true))] : []))
    case .document(let name, let path, let condition):
      return .object(
        [JSONMember("field", .string(name)), JSONMember("path", .array(path.map { .string($0) }))]
          + (try DocumentConditionJSON.members(of: condition)))
    case .related(let relation):
      throw PersistenceError(
        .unsupported, "a remote store cannot be asked through the reference “\(relation.field)” yet",
        model: schema.name, field: relation.field)
    case .all(let nodes): return ["all": .array(try nodes.map { try json($0, schema) })]
    case .any(let nodes): return ["any": .array(try nodes.map { try json($0, schema) })]
    case .not(let node): return ["not": try json(node, schema)]
    }
  }

  /// Reads a condition.
  ///
  /// The result is not yet validated against the model.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` or
  ///   ``PersistenceError/Code/unknownField``.
  package static func node(_ json: JSONValue, _ schema: ModelSchema, limits: QueryLimits) throws
    -> PredicateNode
  {
    var reader = Reader(schema: schema, limits: limits)
    return try reader.node(json, depth: 1)
  }
}

private struct Reader {
  let schema: ModelSchema
  let limits: QueryLimits
  var count = 0

  mutating func node(_ json: JSONValue, depth: Int) throws -> PredicateNode {
    try limits.check(depth: depth)
    try add(1)
    switch json {
    case .bool(let truth): return .constant(truth)
    case .object(let members): return try node(members, depth: depth)
    default: throw malformed("a condition is an object, true or false, not \(json.kind)")
    }
  }

  private mutating func add(_ more: Int) throws {
    count += more
    try limits.check(nodes: count)
  }

  private func malformed(_ reason: String) -> PersistenceError {
    PersistenceError(.invalidRequest, "the condition is malformed: \(reason)", model: schema.name)
  }

  private mutating func node(_ members: [JSONMember], depth: Int) throws -> PredicateNode {
    let names = Set(members.map(\.name))
    func member(_ name: String) throws -> JSONValue {
      guard let value = members.first(where: { $0.name == name })?.value else {
        throw malformed("“\(name)” is missing")
      }
      return value
    }
    switch names {
    case ["all"]: return .all(try nodes(member("all"), depth: depth))
    case ["any"]: return .any(try nodes(member("any"), depth: depth))
    case ["not"]: return .not(try node(member("not"), depth: depth + 1))
    default: break
    }
    let field = try schema.requiredField(named: text(member("field"), "field"))
    if names.contains("path") {
      let path = try elements(member("path"), "path").map { try text($0, "path") }
      try add(path.count)
      let rest = members.filter { $0.name != "field" && $0.name != "path" }
      do {
        return .document(field: field.name, path: path, try DocumentConditionJSON.condition(rest))
      } catch let problem as DocumentConditionJSON.Malformed {
        throw malformed(problem.reason)
      }
    }
    switch names.subtracting(["field"]) {
    case ["is", "value"]:
      return .comparison(
        field: field.name, try comparison(member("is")), try OperandJSON.value(member("value"), for: field))
    case ["is", "other"]:
      return .fieldComparison(
        left: field.name, try comparison(member("is")), right: try text(member("other"), "other"))
    case ["in"]:
      let values = try elements(member("in"), "in")
      try add(values.count)
      return .isIn(field: field.name, try values.map { try OperandJSON.value($0, for: field) })
    case ["between"]:
      let bounds = try elements(member("between"), "between")
      guard bounds.count == 2 else { throw malformed("“between” has two bounds") }
      return .isBetween(
        field: field.name, lower: try OperandJSON.value(bounds[0], for: field),
        upper: try OperandJSON.value(bounds[1], for: field))
    case let rest:
      let words = rest.subtracting(["caseInsensitive"])
      guard words.count == 1, let word = words.first, let search = TextOperator(rawValue: word) else {
        throw malformed(
          "a condition on a field has “is” and “value” or “other”, “in”, “between”, or a search in text")
      }
      var isCaseInsensitive = false
      if rest.count == 2 {
        guard case .bool(let truth) = try member("caseInsensitive") else {
          throw malformed("“caseInsensitive” is true or false")
        }
        isCaseInsensitive = truth
      }
      return .text(
        field: field.name, search, try text(member(word), word), isCaseInsensitive: isCaseInsensitive)
    }
  }

  private mutating func nodes(_ json: JSONValue, depth: Int) throws -> [PredicateNode] {
    var nodes: [PredicateNode] = []
    for element in try elements(json, "a list of conditions") {
      nodes.append(try node(element, depth: depth + 1))
    }
    return nodes
  }

  private func comparison(_ json: JSONValue) throws -> ComparisonOperator {
    let text = try text(json, "is")
    guard let comparison = ComparisonOperator(rawValue: text == "=" ? "==" : text) else {
      throw malformed("“is” is one of ==, !=, <, <=, >, >=")
    }
    return comparison
  }

  private func text(_ json: JSONValue, _ what: String) throws -> String {
    guard case .string(let text) = json else { throw malformed("“\(what)” is a string, not \(json.kind)") }
    return text
  }

  private func elements(_ json: JSONValue, _ what: String) throws -> [JSONValue] {
    guard case .array(let elements) = json else { throw malformed("“\(what)” is an array, not \(json.kind)") }
    return elements
  }
}
