import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives
import PersistenceQueryLanguage

/// Inclusions as text, such as `studio,studio.owner`, or as JSON, also of records that refer to those of a page.
///
/// ```json
/// ["studio.owner", {"hasAny": "movie", "model": "Credit", "where": "role = 'lead'", "include": ["person"]}]
/// ```
struct InclusionJSON {
  let relations: StoredRelations
  let limits: QueryLimits
  private var count = 0

  init(relations: StoredRelations, limits: QueryLimits) {
    self.relations = relations
    self.limits = limits
  }

  static func json(_ inclusion: RelatedInclusion, related: [ModelSchema]) throws -> JSONValue {
    var members = [
      JSONMember(inclusion.side.rawValue, .string(inclusion.field)),
      JSONMember("model", .string(inclusion.model)),
    ]
    if let condition = inclusion.condition,
      let schema = related.first(where: { StoredName($0.name) == StoredName(inclusion.model) })
    {
      members.append(JSONMember("where", try PredicateJSON.json(condition, schema, related: related)))
    }
    if !inclusion.nested.isEmpty {
      members.append(
        JSONMember("include", .array(try inclusion.nested.map { try json($0, related: related) })))
    }
    return .object(members)
  }

  mutating func inclusions(_ json: JSONValue, of schema: ModelSchema, depth: Int = 1) throws
    -> [RelatedInclusion]
  {
    try limits.check(depth: depth)
    switch json {
    case .string(let text):
      do {
        let inclusions = try RelatedNames.inclusions(
          text, of: schema, relations, depthLimit: limits.depth - depth + 1)
        try check(inclusions, depth: depth)
        return inclusions
      } catch let error as FieldListError {
        throw PersistenceError.invalidRequest("“include” is malformed: \(error.message)")
      }
    case .array(let elements):
      var inclusions: [RelatedInclusion] = []
      for element in elements {
        if case .object(let members) = element {
          inclusions.append(try inclusion(element, members, of: schema, depth: depth))
        } else {
          guard case .string = element else { throw Self.malformed }
          inclusions += try self.inclusions(element, of: schema, depth: depth)
        }
      }
      return inclusions
    default: throw Self.malformed
    }
  }

  private static let malformed = PersistenceError.invalidRequest(
    "“include” is text or an array, of paths and of objects with “has” or “hasAny”, “model”, “where” and “include”"
  )

  /// Checks the size of inclusions that come from text.
  private mutating func check(_ inclusions: [RelatedInclusion], depth: Int) throws {
    try limits.check(depth: depth)
    count += inclusions.count
    try limits.check(nodes: count)
    for inclusion in inclusions where !inclusion.nested.isEmpty {
      try check(inclusion.nested, depth: depth + 1)
    }
  }

  private mutating func inclusion(
    _ json: JSONValue, _ members: [JSONMember], of schema: ModelSchema, depth: Int
  ) throws -> RelatedInclusion {
    count += 1
    try limits.check(nodes: count)
    let sides = [RelatedCondition.Side.target, .referrers].filter { json.member($0.rawValue) != nil }
    guard sides.count == 1, case .string(let field)? = json.member(sides[0].rawValue),
      members.allSatisfy({ [sides[0].rawValue, "model", "where", "include"].contains($0.name) })
    else { throw Self.malformed }
    let other: ModelSchema
    switch json.member("model") {
    case .string(let model)?:
      guard let known = try relations.model(named: model) else {
        return RelatedInclusion(sides[0], field: field, model: model)
      }
      other = known
    case nil:
      guard sides[0] == .target, let target = try relations.target(of: field, in: schema.name) else {
        throw PersistenceError.invalidRequest(
          "the store lists no target of “\(field)”; name the other model in “model”")
      }
      other = target
    default: throw Self.malformed
    }
    let reader = WireQueryReader(schema: other, relations: relations, limits: limits)
    return RelatedInclusion(
      sides[0], field: field, model: other.name, where: try reader.predicate(json.member("where")),
      including: try json.member("include").map { try inclusions($0, of: other, depth: depth + 1) } ?? [])
  }
}
