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

  package init(_ reader: any StorageReader, declared: [ModelSchema] = []) {
    self.reader = reader
    self.declared = Dictionary(declared.map { (StoredName($0.name), $0) }) { first, _ in first }
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
    let (referring, target) = relation.side == .target ? (schema, other) : (other, schema)
    let field = try referring.requiredField(named: relation.field)
    guard target.key.count == 1, let key = target.field(named: target.key[0]), key.kind.tag == field.kind.tag
    else {
      throw PersistenceError(
        .invalidRequest,
        "“\(field.name)” of \(referring.name) cannot refer to a \(target.name), whose key is "
          + "(\(target.key.joined(separator: ", ")))", model: referring.name, field: field.name)
    }
    let condition = try answer(relation.condition, on: other)
    switch relation.side {
    case .target:
      let keys = try values(of: key.name, where: condition, in: other)
      return .isIn(field: field.name, keys)
    case .referrers:
      let refers = PredicateNode.comparison(field: field.name, .notEqual, .null)
      let rows = try FetchRequest(other, where: .conjunction(condition, refers))
      let groups = try reader.aggregate(AggregateRequest(rows, grouping: [field.name], aggregates: []))
      return .isIn(field: key.name, groups.map { $0.key[0] })
    }
  }

  private func values(of field: String, where condition: PredicateNode, in schema: ModelSchema) throws
    -> [PersistentValue]
  {
    var values: [PersistentValue] = []
    let request = try FetchRequest(schema, where: condition == .constant(true) ? nil : condition)
    _ = try reader.fetch(request, selecting: [schema.requiredPosition(of: field)])
      .read(from: 0, limit: Int.max) { values.append(try $0.value(at: 0)) }
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
