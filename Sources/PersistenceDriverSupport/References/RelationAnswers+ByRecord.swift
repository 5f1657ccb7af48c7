import PersistenceDriver

// Conditions that too many related records fit: the query's own records, as far as its other conditions leave any, are
// asked page by page.

extension RelationAnswers {
  /// A condition on the record that a field refers to, or its complement.
  struct LateCondition {
    let relation: FoundRelation
    let isNegated: Bool
  }

  /// The conditions on the keys of the query's own records; or on those of the related ones, if the former are many too.
  ///
  /// - Parameters:
  ///   - late: The conditions.
  ///   - others: The other conditions that a record must fit.
  ///   - schema: The model of the query.
  /// - Returns: The conditions on keys.
  /// - Throws: ``PersistenceError``.
  func answer(_ late: [LateCondition], amid others: [PredicateNode], on schema: ModelSchema) throws
    -> [PredicateNode]
  {
    guard !late.isEmpty else { return [] }
    guard let own = try ownKeys(late, amid: others, on: schema) else {
      return try late.map { $0.isNegated ? .not(try keys(of: $0.relation)) : try keys(of: $0.relation) }
    }
    return [.isIn(field: schema.key[0], own)]
  }

  /// The keys of the records that fit all conditions; nil if they are many.
  private func ownKeys(_ late: [LateCondition], amid others: [PredicateNode], on schema: ModelSchema) throws
    -> [PersistentValue]?
  {
    let request = try FetchRequest(schema, where: .conjunction(of: others))
    let positions =
      try [schema.keyPositions[0]] + late.map { try schema.requiredPosition(of: $0.relation.ends.field.name) }
    let rows = try reader.fetch(request, selecting: positions)
    var (own, position): ([PersistentValue], Int) = ([], 0)
    while true {
      var page: [[PersistentValue]] = []
      let count = try rows.read(from: position, limit: Self.pageSize) { row in
        page.append(try positions.indices.map { try row.value(at: $0) })
      }
      for (column, condition) in late.enumerated() {
        let fitting = try fitting(condition.relation, among: Set(page.lazy.map { $0[column + 1] }))
        page.removeAll { fitting.contains($0[column + 1]) == condition.isNegated }
      }
      own += page.lazy.map { $0[0] }
      if own.count > fewKeys { return nil }
      position += count
      if count < Self.pageSize { break }
    }
    for condition in late {
      try plans?.add(
        condition.relation.relation, own.count, isByRecord: true, request, selecting: schema.key[0], reader)
    }
    return own
  }

  /// The values among some that refer to a record that fits.
  private func fitting(_ relation: FoundRelation, among values: Set<PersistentValue>) throws
    -> Set<PersistentValue>
  {
    let (schema, key) = (relation.other, relation.ends.key.name)
    let wanted = PredicateNode.isIn(field: key, values.filter { !$0.isNull }.sorted())
    let condition =
      relation.condition == .constant(true) ? wanted : .conjunction(wanted, relation.condition)
    var found: Set<PersistentValue> = []
    _ = try reader.fetch(
      FetchRequest(schema, where: condition), selecting: [schema.requiredPosition(of: key)]
    ).read(from: 0, limit: .max) { found.insert(try $0.value(at: 0)) }
    return found
  }

  /// The number of the query's records that are asked at once.
  private static var pageSize: Int { 1_000 }
}

extension PredicateNode {
  /// The condition on the record that a field refers to, if it is one or the complement of one.
  var targetCondition: (relation: RelatedCondition, isNegated: Bool)? {
    switch self {
    case .related(let relation) where relation.side == .target: (relation, false)
    case .not(let node): node.targetCondition.map { ($0.relation, !$0.isNegated) }
    default: nil
    }
  }
}
