package import PersistenceDriver
import PersistencePrimitives

/// Answers the conditions on related records, so that a driver can answer the rest (contract L5).
///
/// Each such condition becomes a list of keys, which the reader finds in the moment of the query itself: the keys of the
/// related records that fit or, where these are many, of the query's own records.
///
/// - Complexity: One request for each condition, and memory for the keys that it finds.
package struct RelationAnswers {
  let reader: any StorageReader
  /// The schemas as the query declares them; others are those of the store.
  private let declared: [StoredName: ModelSchema]
  /// The maximum number of keys that one condition may find.
  private let keyLimit: Int
  /// The number of related keys above which the query's own records are asked first.
  let fewKeys: Int

  /// Collects how the requests are answered; nil unless someone asks.
  let plans: RelationPlans?

  package init(
    _ reader: any StorageReader, declared: [ModelSchema] = [], keyLimit: Int = .max, fewKeys: Int = 50_000,
    plans: RelationPlans? = nil
  ) {
    self.reader = reader
    self.declared = declared.byName
    self.keyLimit = keyLimit
    self.fewKeys = fewKeys
    self.plans = plans
  }

  /// The condition without conditions on related records.
  ///
  /// - Parameters:
  ///   - node: The condition.
  ///   - schema: The model that it is a condition on.
  /// - Returns: The condition, in which lists of keys stand for what was found.
  /// - Throws: ``PersistenceError``, also for a field that is no reference to the model.
  package func answer(_ node: PredicateNode, on schema: ModelSchema) throws -> PredicateNode {
    guard keyLimit == .max, schema.key.count == 1 else { return try answerByKeys(node, on: schema) }
    var (answered, late): ([PredicateNode], [LateCondition]) = ([], [])
    for conjunct in node.conjuncts {
      if let (relation, isNegated) = conjunct.targetCondition, let found = try find(relation, on: schema) {
        if let keys = try values(of: found, limit: fewKeys) {
          let isIn = PredicateNode.isIn(field: found.ends.field.name, keys)
          answered.append(isNegated ? .not(isIn) : isIn)
        } else {
          late.append(LateCondition(relation: found, isNegated: isNegated))
        }
      } else {
        answered.append(try answerByKeys(conjunct, on: schema))
      }
    }
    return try .conjunction(of: answered + answer(late, amid: answered, on: schema)) ?? node
  }

  private func answerByKeys(_ node: PredicateNode, on schema: ModelSchema) throws -> PredicateNode {
    switch node {
    case .related(let relation): try find(relation, on: schema).map(keys(of:)) ?? .constant(false)
    case .all(let nodes): .all(try nodes.map { try answerByKeys($0, on: schema) })
    case .any(let nodes): .any(try nodes.map { try answerByKeys($0, on: schema) })
    case .not(let node): .not(try answerByKeys(node, on: schema))
    default: node
    }
  }

  /// A condition on related records whose models were found.
  struct FoundRelation {
    let relation: RelatedCondition
    let other: ModelSchema
    let ends: RelationEnds
    /// The condition on the other records, without conditions on further ones.
    let condition: PredicateNode
  }

  /// Finds the models of a condition; nil for a model that the store does not contain, and which so has no records.
  private func find(_ relation: RelatedCondition, on schema: ModelSchema) throws -> FoundRelation? {
    guard let other = try declared[StoredName(relation.model)] ?? reader.schema(named: relation.model) else {
      if relation.side == .target { _ = try schema.requiredField(named: relation.field) }
      return nil
    }
    let ends = try RelationEnds(relation.side, field: relation.field, of: schema, other)
    return FoundRelation(
      relation: relation, other: other, ends: ends, condition: try answer(relation.condition, on: other))
  }

  /// The condition on the keys of the related records that fit.
  func keys(of found: FoundRelation) throws -> PredicateNode {
    let ends = found.ends
    switch found.relation.side {
    case .target:
      guard let keys = try values(of: found, limit: keyLimit) else { throw tooMany(in: found.other) }
      return .isIn(field: ends.field.name, keys)
    case .referrers:
      let refers = PredicateNode.comparison(field: ends.field.name, .notEqual, .null)
      let rows = try FetchRequest(found.other, where: .conjunction(found.condition, refers))
      if keyLimit != .max { return .isIn(field: ends.key.name, try fewValues(of: ends.field.name, in: rows)) }
      let groups = try reader.aggregate(AggregateRequest(rows, grouping: [ends.field.name], aggregates: []))
      try plans?.add(found.relation, groups.count, rows, selecting: ends.field.name, reader)
      return .isIn(field: ends.key.name, groups.map { $0.key[0] })
    }
  }

  /// The different values of a field, whose number has a limit.
  ///
  /// The index of a reference has its order, so that equal values are neighbors, and only different ones take memory.
  private func fewValues(of field: String, in rows: FetchRequest) throws -> [PersistentValue] {
    var values: [PersistentValue] = []
    let sorted = try FetchRequest(rows.schema, where: rows.predicate, order: [FieldOrder(field)])
    _ = try reader.fetch(sorted, selecting: [rows.schema.requiredPosition(of: field)])
      .read(from: 0, limit: .max) { row in
        let value = try row.value(at: 0)
        guard value != values.last else { return }
        values.append(value)
        guard values.count <= keyLimit else { throw tooMany(in: rows.schema) }
      }
    return values
  }

  private func tooMany(in schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .invalidRequest,
      "a condition on related records finds more than \(keyLimit) of them; add a condition that fewer match",
      model: schema.name)
  }

  /// The keys of the records that fit and are referred to; nil if they are more than a limit.
  private func values(of found: FoundRelation, limit: Int) throws -> [PersistentValue]? {
    var values: [PersistentValue] = []
    let (schema, key, condition) = (found.other, found.ends.key.name, found.condition)
    let request = try FetchRequest(schema, where: condition == .constant(true) ? nil : condition)
    _ = try reader.fetch(request, selecting: [schema.requiredPosition(of: key)])
      .read(from: 0, limit: limit == .max ? .max : limit + 1) { values.append(try $0.value(at: 0)) }
    if values.count > limit { return nil }
    try plans?.add(found.relation, values.count, request, selecting: key, reader)
    return values
  }
}

extension PredicateNode {
  /// Whether the condition has conditions on related records.
  package var hasRelations: Bool {
    switch self {
    case .related: true
    case .all(let nodes), .any(let nodes): nodes.contains(where: \.hasRelations)
    case .not(let node): node.hasRelations
    default: false
    }
  }

  /// The models of the conditions on related records, also within each other.
  package var relatedModels: Set<StoredName> {
    var models: Set<StoredName> = []
    visit { node in
      guard case .related(let relation) = node else { return }
      models.insert(StoredName(relation.model))
      models.formUnion(relation.condition.relatedModels)
    }
    return models
  }
}
