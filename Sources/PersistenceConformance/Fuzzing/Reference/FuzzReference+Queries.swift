import PersistenceCore

extension FuzzReference {
  /// A valid request: its filter and its order.
  typealias Checked = (holds: (([PersistentValue]) -> Bool)?, criteria: [(Int, Bool)])

  /// Rejects an invalid request, whatever the store contains.
  func check(_ query: FuzzQuery, _ schemas: [ModelSchema]) throws -> Checked {
    let schema = schemas[query.model]
    let predicate = try query.predicate.map { try relations.isEmpty ? $0 : resolved($0, schema) }
    if let limit = query.limit, limit < 0 { throw Refusal(.invalidRequest) }
    guard query.offset >= 0 else { throw Refusal(.invalidRequest) }
    let holds = try predicate.map { try Self.condition($0, schema.fields) }
    let criteria = try Self.criteria(query, schema)
    if let after = query.after { try Self.check(after, criteria, schema) }
    return (holds, criteria)
  }

  /// Returns the rows of a request, with fields in the declared order.
  func rows(_ query: FuzzQuery, _ schemas: [ModelSchema]) throws -> [[PersistentValue]] {
    let schema = schemas[query.model]
    let (holds, criteria) = try check(query, schemas)
    guard let place = try table(of: schema) else { return [] }
    var rows = tables[place].rows
    if tables[place].schema.identity != schema.identity {
      let positions = Self.positions(of: schema, in: tables[place].schema)
      rows = rows.map { row in positions.map { row[$0] } }
    }
    if let holds { rows = rows.filter(holds) }
    rows.sort { left, right in
      for (position, isDescending) in criteria {
        let order = FuzzValue.order(left[position], right[position])
        if order != 0 { return isDescending ? order > 0 : order < 0 }
      }
      return false
    }
    if let after = query.after {
      rows = rows.filter { row in
        for ((position, isDescending), value) in zip(criteria, after) {
          let order = FuzzValue.order(row[position], FuzzValue.stored(value))
          if order != 0 { return isDescending ? order < 0 : order > 0 }
        }
        return false
      }
    }
    return Array(rows.dropFirst(query.offset).prefix(query.limit ?? rows.count))
  }

  /// The total order: the requested fields, each once, then the key's fields in the last direction (contract
  /// O2).
  static func criteria(_ query: FuzzQuery, _ schema: ModelSchema) throws -> [(Int, Bool)] {
    var criteria: [(Int, Bool)] = []
    for criterion in query.order {
      guard let position = position(of: criterion.field, in: schema.fields) else {
        throw Refusal(.unknownField)
      }
      guard schema.fields[position].kind != .document else { throw Refusal(.invalidRequest) }
      if !criteria.contains(where: { $0.0 == position }) {
        criteria.append((position, criterion.isDescending))
      }
    }
    let direction = criteria.last?.1 ?? false
    for name in schema.key {
      guard let position = position(of: name, in: schema.fields) else { continue }
      if !criteria.contains(where: { $0.0 == position }) { criteria.append((position, direction)) }
    }
    return criteria
  }

  private static func check(_ anchor: [PersistentValue], _ criteria: [(Int, Bool)], _ schema: ModelSchema)
    throws
  {
    guard anchor.count == criteria.count else { throw Refusal(.invalidRequest) }
    for (value, (position, _)) in zip(anchor, criteria) {
      let field = schema.fields[position]
      guard value.tag == field.kind.tag || (value.isNull && field.isOptional) else {
        throw Refusal(.invalidRequest)
      }
    }
  }

  /// Returns a predicate as a closure (contract V6).
  static func condition(_ node: PredicateNode, _ fields: [FieldSchema]) throws
    -> ([PersistentValue]) -> Bool
  {
    func place(_ name: String, isOrdering: Bool) throws -> Int {
      guard let position = position(of: name, in: fields) else { throw Refusal(.unknownField) }
      if isOrdering, fields[position].kind == .document { throw Refusal(.invalidRequest) }
      return position
    }
    func checked(_ value: PersistentValue, _ position: Int) throws -> PersistentValue {
      guard value.isNull || value.tag == fields[position].kind.tag else { throw Refusal(.invalidRequest) }
      return FuzzValue.stored(value)
    }
    switch node {
    case .constant(let truth): return { _ in truth }
    case .comparison(let name, let comparison, let value):
      let position = try place(name, isOrdering: isOrdering(comparison))
      let value = try checked(value, position)
      return { holds($0[position], comparison, value) }
    case .fieldComparison(let left, let comparison, let right):
      let first = try place(left, isOrdering: isOrdering(comparison))
      let second = try place(right, isOrdering: isOrdering(comparison))
      guard fields[first].kind.tag == fields[second].kind.tag else { throw Refusal(.invalidRequest) }
      return { holds($0[first], comparison, $0[second]) }
    case .isIn(let name, let values):
      let position = try place(name, isOrdering: false)
      let values = try values.map { try checked($0, position) }
      return { row in values.contains { holds(row[position], .equal, $0) } }
    case .isBetween(let name, let lower, let upper):
      let position = try place(name, isOrdering: true)
      let (lower, upper) = (try checked(lower, position), try checked(upper, position))
      return { holds($0[position], .greaterOrEqual, lower) && holds($0[position], .lessOrEqual, upper) }
    case .text(let name, let search, let needle, let isCaseInsensitive):
      let position = try place(name, isOrdering: false)
      guard [.string, .url].contains(fields[position].kind),
        let search = FuzzText.search(search, needle, isCaseInsensitive: isCaseInsensitive)
      else { throw Refusal(.invalidRequest) }
      return { row in
        if case .text(let text) = row[position] { search(text) } else { false }
      }
    case .document(let name, let path, let condition):
      let position = try place(name, isOrdering: false)
      guard fields[position].kind == .document, let condition = FuzzDocument.condition(condition) else {
        throw Refusal(.invalidRequest)
      }
      return { condition(FuzzDocument.part(of: $0[position], at: path)) }
    case .related: throw Refusal(.invalidRequest)
    case .all(let nodes):
      let conditions = try nodes.map { try condition($0, fields) }
      return { row in conditions.allSatisfy { $0(row) } }
    case .any(let nodes):
      let conditions = try nodes.map { try condition($0, fields) }
      return { row in conditions.contains { $0(row) } }
    case .not(let node):
      let condition = try condition(node, fields)
      return { !condition($0) }
    }
  }

  private static func isOrdering(_ comparison: ComparisonOperator) -> Bool {
    switch comparison {
    case .equal, .notEqual: false
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    }
  }

  private static func holds(
    _ left: PersistentValue, _ comparison: ComparisonOperator, _ right: PersistentValue
  ) -> Bool {
    switch comparison {
    case .equal: return FuzzValue.order(left, right) == 0
    case .notEqual: return FuzzValue.order(left, right) != 0
    default: break
    }
    if left.isNull || right.isNull { return false }
    let order = FuzzValue.order(left, right)
    return switch comparison {
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    default: order >= 0
    }
  }
}
