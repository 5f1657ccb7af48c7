package import PersistenceDriver
package import PersistenceDriverSupport
package import PersistencePrimitives

/// A query as URL parameters or as a body.
package struct WireQuery: Sendable {
  /// The parameters that choose records.
  package static let conditions: Set<String> = ["where", "sort", "limit", "offset", "after"]
  /// All parameters.
  package static let parameters = conditions.union(["select", "include"])

  /// The query, without a limit if the request has none.
  package var query: RelatedQuery
  private let after: JSONValue?
  /// The positions of the fields that the answer has; nil for all.
  package let selection: [Int]?
  /// What the answer has besides the records.
  package let inclusions: [RelatedInclusion]

  /// Reads the parameters of a URL.
  ///
  /// - Parameters:
  ///   - parameters: The parameters.
  ///   - schema: The model.
  ///   - relations: The references of the store; without them, a query asks of one model only.
  ///   - limits: The limits.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` or
  ///   ``PersistenceError/Code/unknownField``.
  package init(
    _ parameters: QueryParameters, _ schema: ModelSchema, relations: StoredRelations? = nil,
    limits: QueryLimits
  ) throws {
    let reader = WireQueryReader(schema: schema, relations: relations, limits: limits)
    selection = try parameters["select"].map { try FieldSelection.positions($0, in: schema) }
    inclusions = try parameters["include"].map { try reader.inclusions(.string($0)) } ?? []
    query = RelatedQuery(
      schema, where: try parameters["where"].map { try reader.predicate($0) },
      order: try parameters["sort"].map { try reader.order(.string($0)) } ?? [],
      limit: try parameters.count("limit"), offset: try parameters.count("offset") ?? 0)
    after = parameters["after"].map { .string($0) }
  }

  /// Reads a query whose members are `known`.
  package init(
    _ json: JSONValue, _ schema: ModelSchema, relations: StoredRelations? = nil, limits: QueryLimits,
    known: Set<String> = parameters
  ) throws {
    guard case .object(let members) = json else {
      throw PersistenceError.invalidRequest("a query is an object, not \(json.kind)")
    }
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw PersistenceError.invalidRequest(
        "a query has no member “\(other.name.prefix(40))”; it has \(known.sorted().joined(separator: ", "))"
      )
    }
    let reader = WireQueryReader(schema: schema, relations: relations, limits: limits)
    selection = try json.member("select").map { try FieldSelection.positions($0, in: schema) }
    inclusions = try json.member("include").map { try reader.inclusions($0) } ?? []
    query = RelatedQuery(
      schema, where: try reader.predicate(json.member("where")),
      order: try json.member("sort").map { try reader.order($0) } ?? [],
      limit: try WireQueryReader.count(json, "limit"), offset: try WireQueryReader.count(json, "offset") ?? 0)
    after = json.member("after")
  }

  /// The bookmark that the page begins after.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if it belongs to another query.
  package func anchor(in order: PageOrder) throws -> PageAnchor? {
    switch after {
    case nil: return nil
    case .string(let token): return try PositionToken.anchor(token, of: order)
    case .array(let values): return try PositionToken.anchor(values, of: order)
    case .object:
      // A record whose place in the order only the server knows.
      let row = RowBuffer(count: query.schema.fields.count)
      try RecordJSON.read(after ?? .null, query.schema, into: row)
      return try row.withRow { try order.anchor(of: $0) }
    case let other?:
      throw PersistenceError.invalidRequest(
        "“after” is a token, an array of values or a record, not \(other.kind)")
    }
  }

  /// The query as a body.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - after: The token, the values or the record that the page begins after.
  ///   - inclusions: What the answer has besides the records.
  ///   - related: The related models, as the client declares them.
  /// - Returns: The body.
  /// - Throws: ``PersistenceError``.
  package static func json(
    _ query: RelatedQuery, after: JSONValue? = nil, including inclusions: [RelatedInclusion] = [],
    related: [ModelSchema] = []
  ) throws -> JSONValue {
    var members: [JSONMember] = []
    if let predicate = query.predicate {
      members.append(JSONMember("where", try PredicateJSON.json(predicate, query.schema, related: related)))
    }
    if !query.order.isEmpty { members.append(JSONMember("sort", .array(query.order.map(json)))) }
    if let limit = query.limit { members.append(JSONMember("limit", .number("\(limit)"))) }
    if query.offset != 0 { members.append(JSONMember("offset", .number("\(query.offset)"))) }
    if let after { members.append(JSONMember("after", after)) }
    if !inclusions.isEmpty {
      members.append(
        JSONMember("include", .array(try inclusions.map { try InclusionJSON.json($0, related: related) })))
    }
    return .object(members)
  }

  private static func json(_ criterion: RelatedOrder.Criterion) -> JSONValue {
    let isDescending = JSONValue.bool(criterion.order.isDescending)
    guard let related = criterion.related else {
      return ["field": .string(criterion.order.field), "descending": isDescending]
    }
    return [
      "field": .string(related.field), "of": .string(related.reference), "model": .string(related.model),
      "descending": isDescending,
    ]
  }
}
