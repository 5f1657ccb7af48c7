import PersistenceCore

extension FuzzGenerator {
  static let modelNames = ["A", "B", "Movie"]
  static let hostileModelNames = [
    "", "a", "../../x", "a/b", "CON", "sqlite_master", "sqlite_x", "\u{E9}", "e\u{301}", "\0", "a'\"b",
    "_records", "main.A", String(repeating: "m", count: 300), "👩‍👩‍👧", " ", ".", "%",
  ]
  static let fieldNames = ["id", "a", "b", "c", "d", "e", "f", "g", "h", "i"]
  static let hostileFieldNames = [
    "", "A", "rowid", "../x", "a/b", "\u{E9}", "e\u{301}", "select", "\"", "'", "\0", "_id", "oid", "key",
    "a b", String(repeating: "f", count: 300), "$1", "?1", "[x]", "value", "hash", "A ",
  ]

  mutating func makeModels() {
    if isTyped {
      if let schema = try? FuzzRecord.schema.model { models.append(model(schema)) }
    } else {
      makeModelsOfChance()
    }
    current = Array(models.indices)
    // Other declarations of a model follow all models, because content is read with the first one.
    for model in models {
      if chance(20), let other = try? reordered(model) { models.append(other) }
      if chance(15), let other = try? changed(model) { models.append(other) }
    }
  }

  private mutating func makeModelsOfChance() {
    let count = weighted([(50, 1), (35, 2), (15, 3)])
    var names: [String] = []
    while names.count < count {
      let name = chance(75) ? random.pick(Self.modelNames) : random.pick(Self.hostileModelNames)
      if !names.contains(where: { FuzzValue.isSameName($0, name) }) { names.append(name) }
    }
    for name in names {
      if let model = try? model(name) { models.append(model) }
    }
  }

  private mutating func fieldNames(_ count: Int) -> [String] {
    var names: [String] = []
    let isHostile = chance(25)
    while names.count < count {
      let name = isHostile && chance(50) ? random.pick(Self.hostileFieldNames) : random.pick(Self.fieldNames)
      if !names.contains(where: { FuzzValue.isSameName($0, name) }) { names.append(name) }
    }
    return names
  }

  private mutating func model(_ name: String) throws -> FuzzModel {
    let keyCount = weighted([(70, 1), (22, 2), (8, 3)])
    let otherCount = random.int(isLarge ? 1...4 : 2...7)
    let names = fieldNames(keyCount + otherCount)
    var fields: [FieldSchema] = []
    for (place, name) in names.enumerated() {
      if place < keyCount {
        fields.append(FieldSchema(name, random.pick([.int64, .string, .uuid])))
      } else if place > keyCount, chance(25) {
        // A second field of the same kind, so that fields can be compared with each other.
        let peer = random.pick(fields)
        fields.append(FieldSchema(name, peer.kind, isOptional: peer.isOptional || chance(50)))
      } else {
        let kind = weighted([
          (6, random.pick(FieldKind.allCases)), (4, .string), (1, .double), (1, .int64), (1, .decimal),
          (1, .date), (1, .document), (1, .data),
        ])
        fields.append(FieldSchema(name, kind, isOptional: chance(50)))
      }
    }
    let key = Array(names.prefix(keyCount))
    fields.shuffle(using: &random)
    return model(try ModelSchema(name: name, fields: fields, key: key, indexes: indexes(fields)))
  }

  private mutating func indexes(_ fields: [FieldSchema]) -> [IndexSchema] {
    let ordered = fields.filter(\.kind.isOrdered)
    guard !ordered.isEmpty else { return [] }
    var indexes: [IndexSchema] = []
    for _ in 0..<weighted([(15, 0), (40, 1), (30, 2), (15, 3)]) {
      var names: [String] = []
      for _ in 0..<weighted([(60, 1), (30, 2), (10, 3)]) {
        let name = random.pick(ordered).name
        if !names.contains(where: { FuzzValue.isSameName($0, name) }) { names.append(name) }
      }
      let index = IndexSchema(names, isUnique: chance(35))
      // A store may keep a repeated index once.
      if !indexes.contains(index) { indexes.append(index) }
    }
    return indexes
  }

  mutating func model(_ schema: ModelSchema) -> FuzzModel {
    let count =
      isLarge
      ? random.pick([126, 127, 128, 129, 130, 160, 255, 256, 257, 258, 300, 384, 400])
      : random.int(3...random.pick([6, 14, 40]))
    var pools: [[PersistentValue]] = []
    for field in schema.fields {
      let isUnique = schema.indexes.contains { index in
        index.isUnique && index.fields.contains { FuzzValue.isSameName($0, field.name) }
      }
      let size = isUnique ? count + count / 2 : random.pick([2, 4, 8, 16])
      pools.append(pool(field.kind, size))
    }
    let keyPositions = schema.key.compactMap { FuzzReference.position(of: $0, in: schema.fields) }
    // A compound key draws each field from few values, so that keys have common prefixes.
    let width = keyPositions.count == 1 ? count : random.int(2...(isLarge ? 40 : 8))
    for position in keyPositions { pools[position] = keyPool(schema.fields[position].kind, width) }
    var keys: [[PersistentValue]] = []
    for attempt in 0..<count * 3 where keys.count < count {
      let key = keyPositions.map { position in
        keyPositions.count == 1 && attempt < pools[position].count
          ? pools[position][attempt] : random.pick(pools[position])
      }
      let isKnown = keys.contains { FuzzValue.isSame($0, key) }
      if !isKnown { keys.append(key) }
    }
    return FuzzModel(schema: schema, keys: keys, pools: pools)
  }

  /// Returns the same declaration with fields and indexes in another order.
  mutating func reordered(_ model: FuzzModel) throws -> FuzzModel {
    let order = Array(model.schema.fields.indices).shuffled(using: &random)
    let schema = try ModelSchema(
      name: model.schema.name, fields: order.map { model.schema.fields[$0] }, key: model.schema.key,
      indexes: model.schema.indexes.shuffled(using: &random))
    return FuzzModel(schema: schema, keys: model.keys, pools: order.map { model.pools[$0] })
  }

  /// Returns a declaration that is incompatible with the first one.
  private mutating func changed(_ model: FuzzModel) throws -> FuzzModel {
    var (fields, key, indexes) = (model.schema.fields, model.schema.key, model.schema.indexes)
    switch random.int(0...4) {
    case 0:
      let name = random.pick(["new", "A", "\u{E9}"])
      if FuzzReference.position(of: name, in: fields) == nil {
        fields.append(FieldSchema(name, .bool, isOptional: true))
      }
    case 1:
      let others = fields.indices.filter { place in
        !key.contains { FuzzValue.isSameName($0, fields[place].name) }
      }
      if !others.isEmpty { fields[random.pick(others)].isOptional.toggle() }
    case 2: if indexes.isEmpty { fields.append(FieldSchema("newer", .url)) } else { indexes.removeLast() }
    case 3: key.reverse()
    default: if let first = indexes.first { indexes[0].isUnique = !first.isUnique }
    }
    return self.model(try ModelSchema(name: model.schema.name, fields: fields, key: key, indexes: indexes))
  }
}
