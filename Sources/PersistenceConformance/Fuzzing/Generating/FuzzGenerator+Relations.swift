import PersistenceCore

/// Programs of models that refer to each other and to themselves.
extension FuzzGenerator {
  mutating func relatedProgram() -> FuzzProgram {
    makeRelatedModels()
    var steps = relatedOpening()
    // Some writes from now on refer to records that never exist.
    for relation in relations {
      guard let position = position(of: relation) else { continue }
      models[relation.model].pools[position] += Array(
        absentKeys(models[relation.target].schema).prefix(random.int(0...2)))
    }
    for _ in 0..<random.int(15...50) { steps.append(step()) }
    return FuzzProgram(schemas: models.map(\.schema), steps: steps, relations: relations)
  }

  private func position(of relation: FuzzRelation) -> Int? {
    FuzzReference.position(of: relation.field, in: models[relation.model].schema.fields)
  }

  private mutating func makeRelatedModels() {
    let names = Array(Self.modelNames.prefix(random.int(1...3)))
    let keys = names.map { _ in FieldSchema("id", random.pick([.int64, .string, .uuid])) }
    for (model, name) in names.enumerated() {
      var fields = [keys[model]]
      for number in 0..<random.int(1...2) {
        let target = random.int(0...names.count - 1)
        let rule = random.pick([DeleteRule.restrict, .cascade, .setNil])
        // A required reference to a record of its own kind needs a circle, which random rows rarely are.
        let isOptional = rule == .setNil || target == model || chance(60)
        fields.append(FieldSchema("r\(number)", keys[target].kind, isOptional: isOptional))
        relations.append(FuzzRelation(model, "r\(number)", to: target, onDelete: rule))
      }
      for other in ["a", "b"].prefix(random.int(0...2)) {
        fields.append(FieldSchema(other, random.pick(FieldKind.allCases), isOptional: chance(50)))
      }
      fields.shuffle(using: &random)
      var indexes = relations.filter { $0.model == model && chance(70) }.map { IndexSchema([$0.field]) }
      if chance(20), let ordered = fields.first(where: { $0.kind.isOrdered && $0.name != "id" }) {
        indexes.append(IndexSchema([ordered.name, "id"], isUnique: chance(50)))
      }
      if let schema = try? ModelSchema(name: name, fields: fields, key: ["id"], indexes: indexes) {
        models.append(self.model(schema))
      }
    }
    current = Array(models.indices)
    for relation in relations {
      guard let position = position(of: relation) else { continue }
      models[relation.model].pools[position] = models[relation.target].keys.map { $0[0] }
    }
  }

  /// Keys that no record has.
  private mutating func absentKeys(_ schema: ModelSchema) -> [PersistentValue] {
    let kind = schema.fields.first { $0.name == "id" }?.kind ?? .int64
    return keyPool(kind, 60).filter { value in
      !models.contains { $0.keys.contains { FuzzValue.isSame($0[0], value) } }
    }
  }

  /// All records of all models in one transaction, because they refer to each other.
  private mutating func relatedOpening() -> [FuzzStep] {
    var steps = models.indices.map { FuzzStep.define($0) }
    for model in models.indices {
      steps.append(.saveMany(model, models[model].keys.map { row(model, key: $0) }))
    }
    return [.transaction(steps, .commit)]
  }

  /// A request whose rows are sorted by a field of related records; nil if the model refers to none.
  mutating func sorted(_ model: Int) -> FuzzStep? {
    let known = relations.filter { $0.model == model }
    guard !known.isEmpty else { return nil }
    let relation = random.pick(known)
    let target = models[relation.target].schema
    let field = random.pick(target.fields.filter(\.kind.isOrdered)).name
    var query = query(model)
    (query.after, query.limit, query.offset) = (
      nil, random.pick([nil, 0, 1, 3, 10]), random.pick([0, 0, 0, 1, 4])
    )
    return .sorted(
      query, by: RelatedField(relation.field, model: target.name, field: field), isDescending: chance(50),
      pageSize: random.pick([1, 2, 5, 20]))
  }

  /// A condition on records that refer to a model's records, or to which they refer; nil if there is no relation.
  mutating func related(_ model: Int) -> PredicateNode? {
    let known = relations.filter { $0.model == model || $0.target == model }
    guard relatedDepth < 3, !known.isEmpty else { return nil }
    relatedDepth += 1
    defer { relatedDepth -= 1 }
    let relation = random.pick(known)
    let isTarget = relation.model == model && (relation.target != model || chance(50))
    let other = isTarget ? relation.target : relation.model
    let condition = chance(15) ? PredicateNode.constant(true) : predicate(other, depth: random.int(0...1))
    return .related(
      RelatedCondition(
        isTarget ? .target : .referrers, field: relation.field, model: models[other].schema.name, condition))
  }
}
