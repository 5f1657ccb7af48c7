package import PersistenceDriver
package import PersistenceDriverSupport
package import PersistencePrimitives

/// Conditions as JSON.
///
/// ```json
/// {"all": [{"field": "rating", "is": "==", "value": "PG-13"}, {"field": "budget", "between": [1e6, 1e7]},
///          {"not": {"field": "title", "hasPrefix": "The "}},
///          {"field": "address", "path": ["city"], "is": "==", "value": "Berlin"},
///          {"field": "tags", "path": [], "includes": "new"},
///          {"has": "studio", "where": {"field": "name", "is": "==", "value": "A24"}},
///          {"not": {"hasAny": "movie", "model": "Credit"}}]}
/// ```
///
/// The member `model` names the other model of a reference. With `has` it may be omitted for the references that the
/// store lists.
package enum PredicateJSON {
  /// Writes a condition.
  ///
  /// - Parameters:
  ///   - node: The condition.
  ///   - schema: The model that it is a condition on.
  ///   - related: The models of conditions on related records.
  /// - Returns: The JSON.
  /// - Throws: ``PersistenceError`` for a field or a model that is unknown.
  package static func json(_ node: PredicateNode, _ schema: ModelSchema, related: [ModelSchema] = []) throws
    -> JSONValue
  {
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
      guard let other = related.first(where: { StoredName($0.name) == StoredName(relation.model) }) else {
        throw PersistenceError(
          .unsupported,
          "the declaration of \(relation.model) is unknown, as in a decoded query; make the query in code",
          model: schema.name, field: relation.field)
      }
      let condition = try json(relation.condition, other, related: related)
      return [
        relation.side.rawValue: .string(relation.field), "model": .string(relation.model), "where": condition,
      ]
    case .all(let nodes): return ["all": .array(try nodes.map { try json($0, schema, related: related) })]
    case .any(let nodes): return ["any": .array(try nodes.map { try json($0, schema, related: related) })]
    case .not(let node): return ["not": try json(node, schema, related: related)]
    }
  }

  /// Reads a condition.
  ///
  /// The result is not yet validated against the model.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` or
  ///   ``PersistenceError/Code/unknownField``.
  package static func node(
    _ json: JSONValue, _ schema: ModelSchema, relations: StoredRelations? = nil, limits: QueryLimits
  ) throws -> PredicateNode {
    var reader = Reader(schema: schema, relations: relations, limits: limits)
    return try reader.node(json, depth: 1)
  }
}

private struct Reader {
  /// The model whose fields a condition names; another one within `has` and `hasAny`.
  var schema: ModelSchema
  let relations: StoredRelations?
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
    for side in [RelatedCondition.Side.target, .referrers] where names.contains(side.rawValue) {
      guard names.subtracting([side.rawValue, "model", "where"]).isEmpty else {
        throw malformed("“\(side.rawValue)” has “model” and “where” beside it, and nothing else")
      }
      let model = try names.contains("model") ? text(member("model"), "model") : nil
      let field = try text(member(side.rawValue), side.rawValue)
      return try related(
        side, field, model, names.contains("where") ? member("where") : .bool(true), depth: depth)
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

  /// Reads a condition on related records, whose fields are those of their model.
  private mutating func related(
    _ side: RelatedCondition.Side, _ field: String, _ model: String?, _ condition: JSONValue, depth: Int
  ) throws -> PredicateNode {
    guard let relations else { throw malformed("“\(side.rawValue)” is not supported here") }
    let own = schema
    let other: ModelSchema? =
      if let model { try relations.model(named: model) } else if side == .target {
        try relations.target(of: own.requiredField(named: field).name, in: own.name)
      } else { nil }
    guard let other else {
      guard model != nil else {
        throw malformed("the store lists no target of “\(field)”; name the other model in “model”")
      }
      if side == .target { _ = try own.requiredField(named: field) }
      // Clients see no records of a model that the store does not contain, or that is reserved.
      return .constant(false)
    }
    schema = other
    defer { schema = own }
    let node = try node(condition, depth: depth + 1)
    let name = side == .target ? try own.requiredField(named: field) : try other.requiredField(named: field)
    return .related(RelatedCondition(side, field: name.name, model: other.name, node))
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

/// The operands of conditions as JSON.
///
/// An operand may be null, and any number of its sort: a condition may compare an `int8` with 1000.
package enum OperandJSON {
  /// The value of an operand for a field.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the field cannot
  ///   hold it.
  package static func value(_ json: JSONValue, for field: FieldSchema) throws -> PersistentValue {
    do {
      return try ValueReader.strict.value(json, for: operandField(field))
    } catch {
      throw PersistenceError(error)
    }
  }

  package static func json(_ value: PersistentValue, for field: FieldSchema) throws -> JSONValue {
    try ValueWriter.json(value, operandField(field))
  }

  private static func operandField(_ field: FieldSchema) -> FieldSchema {
    var field = field
    field.isOptional = true
    if field.kind.isInteger { field.kind = .int64 }
    if field.kind == .float { field.kind = .double }
    if field.kind == .url { field.kind = .string }
    return field
  }
}
