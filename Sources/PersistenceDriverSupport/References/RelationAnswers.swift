package import PersistenceDriver
import PersistencePrimitives

/// Answers the conditions on related records, so that a driver can answer the rest (contract L5).
///
/// Each such condition becomes a list of keys, which the reader finds in the moment of the query itself.
///
/// - Complexity: One request for each condition, and memory for the keys that it finds.
package struct RelationAnswers {
  private let reader: any StorageReader
  /// The schemas as the query declares them; others are those of the store.
  private let declared: [StoredName: ModelSchema]
  /// The maximum number of keys that one condition may find.
  private let keyLimit: Int

  /// Collects how the requests are answered; nil unless someone asks.
  private let plans: RelationPlans?

  package init(
    _ reader: any StorageReader, declared: [ModelSchema] = [], keyLimit: Int = .max,
    plans: RelationPlans? = nil
  ) {
    self.reader = reader
    self.declared = declared.byName
    self.keyLimit = keyLimit
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
    switch node {
    case .related(let relation): try answer(relation, on: schema)
    case .all(let nodes): .all(try nodes.map { try answer($0, on: schema) })
    case .any(let nodes): .any(try nodes.map { try answer($0, on: schema) })
    case .not(let node): .not(try answer(node, on: schema))
    default: node
    }
  }

  private func answer(_ relation: RelatedCondition, on schema: ModelSchema) throws -> PredicateNode {
    // A model that the store does not contain has no records.
    guard let other = try declared[StoredName(relation.model)] ?? reader.schema(named: relation.model) else {
      if relation.side == .target { _ = try schema.requiredField(named: relation.field) }
      return .constant(false)
    }
    let ends = try RelationEnds(relation.side, field: relation.field, of: schema, other)
    let condition = try answer(relation.condition, on: other)
    switch relation.side {
    case .target:
      let keys = try values(of: ends.key.name, where: condition, in: other, relation)
      return .isIn(field: ends.field.name, keys)
    case .referrers:
      let refers = PredicateNode.comparison(field: ends.field.name, .notEqual, .null)
      let rows = try FetchRequest(other, where: .conjunction(condition, refers))
      if keyLimit != .max { return .isIn(field: ends.key.name, try fewValues(of: ends.field.name, in: rows)) }
      let groups = try reader.aggregate(AggregateRequest(rows, grouping: [ends.field.name], aggregates: []))
      try plans?.add(relation, groups.count, rows, selecting: ends.field.name, reader)
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
        try requireFew(values.count, in: rows.schema)
      }
    return values
  }

  private func requireFew(_ count: Int, in schema: ModelSchema) throws {
    guard count > keyLimit else { return }
    throw PersistenceError(
      .invalidRequest,
      "a condition on related records finds more than \(keyLimit) of them; add a condition that fewer match",
      model: schema.name)
  }

  private func values(
    of field: String, where condition: PredicateNode, in schema: ModelSchema, _ relation: RelatedCondition
  ) throws -> [PersistentValue] {
    var values: [PersistentValue] = []
    let request = try FetchRequest(schema, where: condition == .constant(true) ? nil : condition)
    _ = try reader.fetch(request, selecting: [schema.requiredPosition(of: field)])
      .read(from: 0, limit: keyLimit == .max ? .max : keyLimit + 1) { values.append(try $0.value(at: 0)) }
    try requireFew(values.count, in: schema)
    try plans?.add(relation, values.count, request, selecting: field, reader)
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
