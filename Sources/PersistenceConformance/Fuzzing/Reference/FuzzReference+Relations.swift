import PersistenceCore

/// Relations, as the contract states them: what follows a delete, what a commit needs, and what conditions mean.
extension FuzzReference {
  /// A field that refers to records.
  struct Relation: Sendable {
    let model: String
    let field: String
    let target: String
    let rule: DeleteRule
  }

  private func place(_ model: String) -> Int? {
    tables.firstIndex { FuzzValue.isSameName($0.schema.name, model) }
  }

  /// The table with a relation, and the position of its field.
  private func field(_ relation: Relation) -> (place: Int, position: Int)? {
    guard let place = place(relation.model),
      let position = Self.position(of: relation.field, in: tables[place].schema.fields)
    else { return nil }
    return (place, position)
  }

  /// Whether each reference that is not nil has its record (contract L1).
  var isWhole: Bool {
    relations.allSatisfy { relation in
      guard let (place, position) = field(relation) else { return true }
      let target = self.place(relation.target)
      return tables[place].rows.allSatisfy { row in
        row[position].isNull || target.map { find([row[position]], in: $0).exists } ?? false
      }
    }
  }

  /// Deletes the records that refer to a deleted one, or sets their references to nil (contract L2).
  mutating func follow(_ key: PersistentValue, of target: String) {
    for relation in relations
    where FuzzValue.isSameName(relation.target, target) && relation.rule != .restrict {
      guard let (place, position) = field(relation) else { continue }
      let schema = tables[place].schema
      for row in tables[place].rows where FuzzValue.order(row[position], key) == 0 {
        let own = Self.key(of: row, in: schema)
        let (index, exists) = find(own, in: place)
        guard exists else { continue }
        if relation.rule == .setNil {
          tables[place].rows[index][position] = .null
        } else {
          tables[place].rows.remove(at: index)
          if own.count == 1 { follow(own[0], of: schema.name) }
        }
      }
    }
  }

  /// The rows of a request, sorted first by a field of related records, which is nil without one (contract L6).
  func rows(_ query: FuzzQuery, _ schemas: [ModelSchema], by related: RelatedField, isDescending: Bool) throws
    -> [[PersistentValue]]
  {
    var whole = query
    (whole.limit, whole.offset) = (nil, 0)
    var rows = try rows(whole, schemas)
    // The key's fields have the last direction.
    if query.order.isEmpty, isDescending { rows.reverse() }
    guard let reference = Self.position(of: related.reference, in: schemas[query.model].fields) else {
      throw Refusal(.unknownField)
    }
    let values = try rows.map { try value(of: related, $0[reference]) }
    if rows.isEmpty { _ = try value(of: related, .null) }
    let order = rows.indices.sorted { left, right in
      let order = FuzzValue.order(values[left], values[right])
      return order == 0 ? left < right : isDescending ? order > 0 : order < 0
    }
    return order.dropFirst(query.offset).prefix(query.limit ?? rows.count).map { rows[$0] }
  }

  private func value(of related: RelatedField, _ key: PersistentValue) throws -> PersistentValue {
    guard let place = place(related.model) else { return .null }
    guard let position = Self.position(of: related.field, in: tables[place].schema.fields) else {
      throw Refusal(.unknownField)
    }
    if key.isNull { return .null }
    let (index, exists) = find([key], in: place)
    return exists ? tables[place].rows[index][position] : .null
  }

  /// The condition, in which lists of keys stand for conditions on related records (contract L5).
  func resolved(_ node: PredicateNode, _ schema: ModelSchema) throws -> PredicateNode {
    switch node {
    case .all(let nodes): return .all(try nodes.map { try resolved($0, schema) })
    case .any(let nodes): return .any(try nodes.map { try resolved($0, schema) })
    case .not(let node): return .not(try resolved(node, schema))
    case .related(let relation):
      // A model that the store does not contain has no records.
      guard let place = place(relation.model) else { return .constant(false) }
      let other = tables[place]
      let holds = try Self.condition(resolved(relation.condition, other.schema), other.schema.fields)
      let name = relation.side == .target ? other.schema.key[0] : relation.field
      guard let position = Self.position(of: name, in: other.schema.fields) else {
        throw Refusal(.unknownField)
      }
      let values = other.rows.filter(holds).map { $0[position] }.filter { !$0.isNull }
      return .isIn(field: relation.side == .target ? relation.field : schema.key[0], values)
    default: return node
    }
  }
}
