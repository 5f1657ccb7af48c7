import PersistencePrimitives

extension PredicateNode {
  /// The maximum nesting of a predicate; a deeper one could overflow the stack.
  static let depthLimit = 500

  /// Checks every field and value against a schema, and returns the predicate in the form that drivers receive.
  ///
  /// Values are normalized (contract V4). The values of an `in` list are sorted and unique, so that one set of values
  /// is one condition. A nil in an `in` list, which matches nil (V6), becomes a separate comparison, so that drivers
  /// never receive a list with nil.
  package func validated(for schema: ModelSchema) throws -> PredicateNode {
    var patterns = PatternBudget()
    return try validated(for: schema, depth: 0, &patterns)
  }

  private func validated(for schema: ModelSchema, depth: Int, _ patterns: inout PatternBudget) throws
    -> PredicateNode
  {
    guard depth < Self.depthLimit else {
      throw PersistenceError.invalidRequest(
        "the predicate is nested deeper than \(Self.depthLimit) levels; simplify it")
    }
    switch self {
    case .constant: return self
    case .comparison(let name, let comparison, let value):
      let field = try Self.field(name, in: schema, isOrdered: comparison.isOrdering)
      let checked = try Self.checked(value, for: field, in: schema)
      // Values of other kinds are normal already, so the node need not be made anew.
      guard checked.tag == .double || checked.tag == .date else { return self }
      return .comparison(field: name, comparison, checked)
    case .fieldComparison(let left, let comparison, let right):
      let first = try Self.field(left, in: schema, isOrdered: comparison.isOrdering)
      let second = try Self.field(right, in: schema, isOrdered: comparison.isOrdering)
      guard first.kind.tag == second.kind.tag else {
        throw PersistenceError.invalidRequest(
          "“\(left)” (\(first.kind.rawValue)) cannot be compared with “\(right)” (\(second.kind.rawValue)); "
            + "compare fields of one kind")
      }
      return self
    case .isIn(let name, let values):
      let field = try Self.field(name, in: schema, isOrdered: false)
      if field.kind.tag == .integer, Self.areAscendingIntegers(values) { return self }
      let present = try values.filter { !$0.isNull }.map { try Self.checked($0, for: field, in: schema) }
      let list = PredicateNode.isIn(field: name, Self.inOrder(present))
      return present.count == values.count ? list : .any([list, .comparison(field: name, .equal, .null)])
    case .isBetween(let name, let lower, let upper):
      let field = try Self.field(name, in: schema, isOrdered: true)
      return .isBetween(
        field: name, lower: try Self.checked(lower, for: field, in: schema),
        upper: try Self.checked(upper, for: field, in: schema))
    case .text(let name, let search, let needle, let isCaseInsensitive):
      let field = try Self.field(name, in: schema, isOrdered: false)
      guard field.kind.isText else {
        throw PersistenceError.invalidRequest(
          "“\(name)” of \(schema.name) has the kind \(field.kind.rawValue) and cannot be searched; search text"
        )
      }
      try patterns.add(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
      return self
    case .document(let name, let path, let condition):
      let field = try Self.field(name, in: schema, isOrdered: false)
      guard field.kind == .document else {
        throw PersistenceError.invalidRequest(
          "“\(name)” of \(schema.name) has the kind \(field.kind.rawValue), which has no parts and no elements; "
            + "compare the whole value")
      }
      return .document(field: name, path: path, try condition.validated(&patterns))
    case .related: throw PersistenceError.relationInRequest
    case .all(let nodes):
      return .all(try nodes.map { try $0.validated(for: schema, depth: depth + 1, &patterns) })
    case .any(let nodes):
      return .any(try nodes.map { try $0.validated(for: schema, depth: depth + 1, &patterns) })
    case .not(let node): return .not(try node.validated(for: schema, depth: depth + 1, &patterns))
    }
  }

  private static func field(_ name: String, in schema: ModelSchema, isOrdered: Bool) throws -> FieldSchema {
    let field = try schema.requiredField(named: name)
    guard !isOrdered || field.kind.isOrdered else {
      throw PersistenceError.invalidRequest(
        "“\(name)” of \(schema.name) is a document and has no order; compare it for equality only")
    }
    return field
  }

  private static func inOrder(_ values: [PersistentValue]) -> [PersistentValue] {
    let isInOrder = zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
    if isInOrder { return values }
    var unique: [PersistentValue] = []
    unique.reserveCapacity(values.count)
    for value in values.sorted() where unique.last != value { unique.append(value) }
    return unique
  }

  /// Whether values are integers in order, as a list of keys that this package makes is.
  private static func areAscendingIntegers(_ values: [PersistentValue]) -> Bool {
    var last: Int64?
    for value in values {
      guard case .integer(let number) = value else { return false }
      if let last, last >= number { return false }
      last = number
    }
    return true
  }

  private static func checked(
    _ value: PersistentValue, for field: FieldSchema, in schema: ModelSchema
  ) throws -> PersistentValue {
    guard value.isNull || value.tag == field.kind.tag else {
      throw PersistenceError.invalidRequest(
        "“\(field.name)” of \(schema.name) has the kind \(field.kind.rawValue) and cannot be compared with "
          + "\(value.tag)"
      )
    }
    return value.normalized
  }
}
