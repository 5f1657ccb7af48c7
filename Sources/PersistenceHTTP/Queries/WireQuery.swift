package import PersistenceDriver
import PersistenceQueryLanguage
import PersistencePrimitives

/// A query as URL parameters or as a body.
package struct WireQuery: Sendable {
  /// The parameters that choose records.
  package static let conditions: Set<String> = ["where", "sort", "limit", "offset", "after"]
  /// All parameters.
  package static let parameters = conditions.union(["select"])

  /// The request, without a limit if the query has none.
  package let request: FetchRequest
  /// The positions of the fields that the answer has; nil for all.
  package let selection: [Int]?

  package init(_ parameters: QueryParameters, _ schema: ModelSchema, limits: QueryLimits) throws {
    let selection = try parameters["select"].map { try FieldSelection.positions($0, in: schema) }
    let predicate = try parameters["where"].map { try Self.predicate($0, schema, limits) }
    let order = try parameters["sort"].map { try Self.order($0) } ?? []
    let whole = try FetchRequest(schema, where: predicate, order: order)
    let anchor = try parameters["after"].map { try PositionToken.anchor($0, of: whole) }
    try self.init(
      whole, try parameters.count("limit"), try parameters.count("offset"), anchor, selection)
  }

  /// Reads a query whose members are `known`.
  package init(
    _ json: JSONValue, _ schema: ModelSchema, limits: QueryLimits, known: Set<String> = parameters
  ) throws {
    guard case .object(let members) = json else {
      throw PersistenceError.invalidRequest("a query is an object, not \(json.kind)")
    }
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw PersistenceError.invalidRequest(
        "a query has no member “\(other.name.prefix(40))”; it has \(known.sorted().joined(separator: ", "))"
      )
    }
    let selection = try json.member("select").map { try FieldSelection.positions($0, in: schema) }
    let predicate: PredicateNode? =
      switch json.member("where") {
      case nil: nil
      case .string(let text): try Self.predicate(text, schema, limits)
      case let node?: try PredicateJSON.node(node, schema, limits: limits)
      }
    let whole = try FetchRequest(schema, where: predicate, order: try Self.order(json.member("sort")))
    let anchor: PageAnchor? =
      switch json.member("after") {
      case nil: nil
      case .string(let token): try PositionToken.anchor(token, of: whole)
      case .array(let values): try PositionToken.anchor(values, of: whole)
      case let other?:
        throw PersistenceError.invalidRequest("“after” is a token or an array of values, not \(other.kind)")
      }
    try self.init(
      whole, try Self.count(json, "limit"), try Self.count(json, "offset"), anchor, selection)
  }

  private init(
    _ whole: FetchRequest, _ limit: Int?, _ offset: Int?, _ anchor: PageAnchor?, _ selection: [Int]?
  ) throws {
    self.selection = selection
    request = try FetchRequest(
      whole.schema, where: whole.predicate, order: whole.order, limit: limit, offset: offset ?? 0,
      after: anchor)
  }

  package static func json(_ request: FetchRequest) throws -> JSONValue {
    var members: [JSONMember] = []
    if let predicate = request.predicate {
      members.append(JSONMember("where", try PredicateJSON.json(predicate, request.schema)))
    }
    if !request.order.isEmpty {
      let order = request.order.map { criterion -> JSONValue in
        ["field": .string(criterion.field), "descending": .bool(criterion.isDescending)]
      }
      members.append(JSONMember("sort", .array(order)))
    }
    if let limit = request.limit { members.append(JSONMember("limit", .number("\(limit)"))) }
    if request.offset > 0 { members.append(JSONMember("offset", .number("\(request.offset)"))) }
    if let after = request.after {
      members.append(JSONMember("after", try PositionToken.json(after, of: request)))
    }
    return .object(members)
  }

  private static func predicate(_ text: String, _ schema: ModelSchema, _ limits: QueryLimits) throws
    -> PredicateNode
  {
    do {
      let node = try WhereParser.predicate(text, for: schema)
      var count = 0
      try limits.check(node, count: &count)
      return node
    } catch let error as WhereError {
      throw PersistenceError(
        .invalidRequest, "“where” is malformed at character \(error.position + 1): \(error.message)",
        model: schema.name)
    }
  }

  private static func order(_ text: String) throws -> [FieldOrder] {
    do {
      return try FieldNames.list(text).map { FieldOrder($0.name, isDescending: $0.isDescending) }
    } catch let error as FieldListError {
      throw PersistenceError.invalidRequest("“sort” is malformed: \(error.message)")
    }
  }

  private static func order(_ json: JSONValue?) throws -> [FieldOrder] {
    switch json {
    case nil: return []
    case .string(let text): return try order(text)
    case .array(let elements):
      return try elements.map { element in
        switch element {
        case .string(let text):
          let isDescending = text.hasPrefix("-")
          return FieldOrder(isDescending ? String(text.dropFirst()) : text, isDescending: isDescending)
        case .object(let members) where members.allSatisfy({ ["field", "descending"].contains($0.name) }):
          guard case .string(let name)? = element.member("field") else { break }
          switch element.member("descending") {
          case nil: return FieldOrder(name)
          case .bool(let isDescending): return FieldOrder(name, isDescending: isDescending)
          default: break
          }
        default: break
        }
        throw PersistenceError.invalidRequest("“sort” has names, or objects of “field” and “descending”")
      }
    case let other?:
      throw PersistenceError.invalidRequest("“sort” is text or an array, not \(other.kind)")
    }
  }

  private static func count(_ json: JSONValue, _ name: String) throws -> Int? {
    switch json.member(name) {
    case nil: return nil
    case .number(let text):
      if let number = ExactNumber(text)?.int64, number >= 0 { return Int(number) }
      fallthrough
    default: throw PersistenceError.invalidRequest("“\(name)” is a whole number, 0 or more")
    }
  }
}
