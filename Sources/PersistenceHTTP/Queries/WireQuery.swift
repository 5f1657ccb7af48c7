package import PersistenceDriver
package import PersistenceDriverSupport
package import PersistencePrimitives
import PersistenceQueryLanguage

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

/// Reads the parts of a query.
struct WireQueryReader {
  let schema: ModelSchema
  let relations: StoredRelations?
  let limits: QueryLimits

  /// The condition of a body.
  func predicate(_ json: JSONValue?) throws -> PredicateNode? {
    switch json {
    case nil: nil
    case .string(let text): try predicate(text)
    case let node?: try PredicateJSON.node(node, schema, relations: relations, limits: limits)
    }
  }

  /// The condition of a text.
  func predicate(_ text: String) throws -> PredicateNode {
    do {
      let node = try WhereParser.predicate(text, for: schema, relations: relations)
      var count = 0
      try limits.check(node, count: &count)
      return node
    } catch let error as WhereError {
      throw PersistenceError(
        .invalidRequest, "“where” is malformed at character \(error.position + 1): \(error.message)",
        model: schema.name)
    }
  }

  /// The most criteria of related records: a sort keeps a value for each of them and each record in memory.
  static let relatedCriteria = 16

  /// The order of a text, or of an array.
  func order(_ json: JSONValue) throws -> [RelatedOrder.Criterion] {
    let criteria = try criteria(json)
    guard criteria.count(where: { $0.related != nil }) <= Self.relatedCriteria else {
      throw PersistenceError.invalidRequest(
        "“sort” has more than \(Self.relatedCriteria) fields of related records")
    }
    return criteria
  }

  private func criteria(_ json: JSONValue) throws -> [RelatedOrder.Criterion] {
    switch json {
    case .string(let text):
      do {
        return try named(try FieldNames.list(text))
      } catch let error as FieldListError {
        throw PersistenceError.invalidRequest("“sort” is malformed: \(error.message)")
      }
    case .array(let elements):
      guard elements.count <= FieldNames.countLimit else {
        throw PersistenceError.invalidRequest("“sort” has more than \(FieldNames.countLimit) criteria")
      }
      return try elements.flatMap(criterion)
    default: throw PersistenceError.invalidRequest("“sort” is text or an array, not \(json.kind)")
    }
  }

  private func named(_ names: [(name: String, isDescending: Bool)]) throws -> [RelatedOrder.Criterion] {
    guard let relations else {
      return names.map { .init(FieldOrder($0.name, isDescending: $0.isDescending)) }
    }
    return try RelatedNames.order(names, of: schema, relations)
  }

  private func criterion(_ json: JSONValue) throws -> [RelatedOrder.Criterion] {
    switch json {
    case .string(let text):
      let isDescending = text.hasPrefix("-")
      return try named([(isDescending ? String(text.dropFirst()) : text, isDescending)])
    case .object(let members)
    where members.allSatisfy { ["field", "descending", "of", "model"].contains($0.name) }:
      guard case .string(let name)? = json.member("field") else { break }
      let isDescending: Bool
      switch json.member("descending") {
      case nil: isDescending = false
      case .bool(let truth): isDescending = truth
      default: throw Self.malformedOrder
      }
      switch (json.member("of"), json.member("model")) {
      case (nil, nil): return [.init(FieldOrder(name, isDescending: isDescending))]
      case (.string(let reference)?, let model):
        return [.init(try field(name, of: reference, model), isDescending: isDescending)]
      default: break
      }
    default: break
    }
    throw Self.malformedOrder
  }

  private static let malformedOrder = PersistenceError.invalidRequest(
    "“sort” has names, or objects of “field”, “descending”, and for a field of a related record “of” and “model”"
  )

  /// A field of the record to which a reference leads.
  private func field(_ name: String, of reference: String, _ model: JSONValue?) throws -> RelatedField {
    switch model {
    case .string(let model)?:
      guard !ReservedModel.isReserved(model) else {
        throw PersistenceError.invalidRequest("the server has no model “\(model.prefix(40))”")
      }
      return RelatedField(reference, model: model, field: name)
    case nil:
      if let target = try relations?.target(of: reference, in: schema.name) {
        return RelatedField(reference, model: target.name, field: name)
      }
      throw PersistenceError.invalidRequest(
        "the store lists no target of “\(reference)”; name the other model in “model”")
    default: throw Self.malformedOrder
    }
  }

  /// The inclusions of a text, or of an array.
  func inclusions(_ json: JSONValue) throws -> [RelatedInclusion] {
    guard let relations else { throw PersistenceError.invalidRequest("“include” is not supported here") }
    var reader = InclusionJSON(relations: relations, limits: limits)
    let inclusions = try reader.inclusions(json, of: schema)
    guard !inclusions.isEmpty else { throw PersistenceError.invalidRequest("“include” is empty; omit it") }
    return inclusions
  }

  static func count(_ json: JSONValue, _ name: String) throws -> Int? {
    switch json.member(name) {
    case nil: return nil
    case .number(let text):
      if let number = ExactNumber(text)?.int64, number >= 0 { return Int(number) }
      fallthrough
    default: throw PersistenceError.invalidRequest("“\(name)” is a whole number, 0 or more")
    }
  }
}
