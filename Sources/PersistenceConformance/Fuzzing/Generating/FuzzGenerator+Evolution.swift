import PersistenceCore

/// Changes of stored schemas.
extension FuzzGenerator {
  /// The largest number of declarations from changes in one program.
  private static let evolutionLimit = 6

  /// The target of a change while it is put together; numbers identify columns, because names change.
  private struct Draft {
    struct Column {
      let number: Int
      var field: FieldSchema
      var source: FuzzChange.Source
      var pool: [PersistentValue]
    }

    struct Index: Equatable {
      var numbers: [Int]
      var isUnique: Bool
    }

    var name: String
    var columns: [Column]
    let key: [Int]
    var indexes: [Index]
    /// Whether the store may reject the change.
    var isDoubtful = false
    private var added = 1_000

    init(_ model: FuzzModel) {
      let fields = model.schema.fields
      func numbers(_ names: [String]) -> [Int] {
        names.compactMap { FuzzReference.position(of: $0, in: fields) }
      }
      name = model.schema.name
      columns = fields.indices.map {
        Column(number: $0, field: fields[$0], source: .field($0), pool: model.pools[$0])
      }
      key = numbers(model.schema.key)
      indexes = model.schema.indexes.map { Index(numbers: numbers($0.fields), isUnique: $0.isUnique) }
    }

    /// The places of columns that are not part of the key.
    var others: [Int] { columns.indices.filter { !key.contains(columns[$0].number) } }

    func hasField(named name: String) -> Bool {
      columns.contains { FuzzValue.isSameName($0.field.name, name) }
    }

    mutating func add(
      _ field: FieldSchema, _ source: FuzzChange.Source, _ pool: [PersistentValue], at place: Int
    ) {
      added += 1
      columns.insert(Column(number: added, field: field, source: source, pool: pool), at: place)
    }

    mutating func erase(_ place: Int) {
      let number = columns.remove(at: place).number
      indexes.removeAll { $0.numbers.contains(number) }
    }

    func schema() throws -> ModelSchema {
      func names(_ numbers: [Int]) -> [String] {
        numbers.compactMap { number in columns.first { $0.number == number }?.field.name }
      }
      return try ModelSchema(
        name: name, fields: columns.map(\.field), key: names(key),
        indexes: indexes.map { IndexSchema(names($0.numbers), isUnique: $0.isUnique) })
    }
  }

  var mayEvolve: Bool { limits.changesSchemas && !isTyped && !isRelated && evolutions < Self.evolutionLimit }

  /// A change of a model's schema, to a new declaration; sometimes one that the store must reject.
  mutating func evolve(_ model: Int) -> FuzzStep {
    var draft = draft(of: model)
    var sources = draft.columns.map(\.source)
    if chance(8) {
      spoil(&draft)
      sources = draft.columns.map(\.source)
      if chance(15) { sources.removeLast() }
    }
    let change = FuzzChange(to: models.count, sources)
    guard let target = add(draft, change, of: model) else { return .define(model) }
    if let place = current.firstIndex(of: model), !draft.isDoubtful || chance(40) { current[place] = target }
    return .evolve(model, change)
  }

  /// A read or a write through a declaration that may differ from the stored schema: an earlier or later one.
  mutating func declared() -> FuzzStep {
    var model = random.int(0...models.count - 1)
    if mayEvolve, chance(30) {
      // A declaration of a program that has not changed the store yet.
      let stored = random.pick(current)
      let draft = draft(of: stored)
      model = add(draft, FuzzChange(to: models.count, draft.columns.map(\.source)), of: stored) ?? model
    }
    return .declared(words[model] ?? FuzzWords(), declaredStep(model))
  }

  mutating func declaredStep(_ model: Int) -> FuzzStep {
    switch random.int(0...21) {
    case 0, 1: return .find(model, key(model))
    case 2: return .read(query(model), [0..<3, 2..<9])
    case 3:
      var query = query(model)
      query.after = nil
      return .pages(query, pageSize: isLarge ? 50 : random.pick([1, 2, 5]))
    case 4, 5: return .fetchHeld(random.int(0...2), query(model))
    case 6:
      guard case .select(let query, let positions, _) = select(model) else { return .fetch(query(model)) }
      return .select(query, positions: positions)
    case 7, 8:
      guard case .aggregate(let query, let grouping, let aggregates, _) = aggregate(model) else {
        return .fetch(query(model))
      }
      return .aggregate(query, by: grouping, aggregates)
    case 9, 10: return .insert(model, written(model))
    case 11, 12: return .update(model, written(model))
    case 13, 14: return .save(model, written(model))
    case 15: return .delete(model, key(model))
    case 16: return .deleteRows(query(model))
    case 17: return updateRows(model)
    default: return .fetch(query(model))
    }
  }

  private mutating func draft(of model: Int) -> Draft {
    var draft = Draft(models[model])
    for _ in 0..<weighted([(40, 1), (35, 2), (25, 4)]) { change(&draft, model) }
    return draft
  }

  /// Adds the target of a change to the program's schemas; returns nil if it is no valid schema.
  private mutating func add(_ draft: Draft, _ change: FuzzChange, of model: Int) -> Int? {
    guard let schema = try? draft.schema() else { return nil }
    evolutions += 1
    words[models.count] = FuzzWords(change, of: models[model].schema, to: schema)
    models.append(FuzzModel(schema: schema, keys: models[model].keys, pools: draft.columns.map(\.pool)))
    return models.count - 1
  }

  private mutating func change(_ draft: inout Draft, _ model: Int) {
    let place = random.int(0...draft.columns.count - 1)
    switch random.int(0...15) {
    case 0, 1: if let name = newName(draft) { draft.columns[place].field.name = name }
    case 2:
      let other = random.int(0...draft.columns.count - 1)
      let names = (draft.columns[place].field.name, draft.columns[other].field.name)
      (draft.columns[other].field.name, draft.columns[place].field.name) = names
    case 3, 4, 5: addColumn(&draft)
    case 6: draft.columns.shuffle(using: &random)
    case 7: if let place = pick(draft.others) { draft.erase(place) }
    case 8: widen(&draft)
    case 9:
      if let place = pick(draft.others) { draft.columns[place].field.isOptional = true }
    case 10: require(&draft)
    case 11, 12: compute(&draft, model)
    case 13, 14: changeIndexes(&draft)
    default:
      let isTaken = chance(12)
      let name =
        isTaken ? random.pick(models).schema.name : random.pick(Self.modelNames + Self.hostileModelNames)
      if isTaken || !models.contains(where: { FuzzValue.isSameName($0.schema.name, name) }) {
        draft.name = name
        draft.isDoubtful = draft.isDoubtful || isTaken
      }
    }
  }

  private mutating func addColumn(_ draft: inout Draft) {
    guard let name = newName(draft) else { return }
    let place = chance(60) ? draft.columns.count : random.int(0...draft.columns.count)
    if chance(10) {
      let copied = random.pick(draft.columns)
      guard case .field = copied.source else { return }
      let field = FieldSchema(name, copied.field.kind, isOptional: copied.field.isOptional)
      return draft.add(field, copied.source, copied.pool, at: place)
    }
    let field = FieldSchema(name, random.pick(FieldKind.allCases), isOptional: chance(50))
    let pool = pool(field.kind, random.pick([2, 4, 8]))
    let fill = field.isOptional && chance(50) ? .null : random.pick(pool)
    draft.add(field, .fill(fill), pool, at: place)
  }

  private mutating func widen(_ draft: inout Draft) {
    let places = draft.others.filter { place in
      guard case .field = draft.columns[place].source else { return false }
      return !FuzzReference.widerKinds(than: draft.columns[place].field.kind).isEmpty
    }
    guard let place = pick(places) else { return }
    let kind = random.pick(FuzzReference.widerKinds(than: draft.columns[place].field.kind))
    draft.columns[place].field.kind = kind
    draft.columns[place].pool += pool(kind, 4)
  }

  /// Makes an optional field required, or only replaces its nils.
  private mutating func require(_ draft: inout Draft) {
    let places = draft.others.filter { place in
      guard case .field = draft.columns[place].source else { return false }
      return draft.columns[place].field.isOptional
    }
    guard let place = pick(places), case .field(let position, _) = draft.columns[place].source else { return }
    let number = draft.columns[place].number
    draft.columns[place].source = .field(
      position, replacingNil: random.pick(draft.columns[place].pool))
    if chance(80) { draft.columns[place].field.isOptional = false }
    if draft.indexes.contains(where: { $0.isUnique && $0.numbers.contains(number) }) {
      draft.isDoubtful = true
    }
  }

  private mutating func compute(_ draft: inout Draft, _ model: Int) {
    let fields = models[model].schema.fields
    let position = random.int(0...fields.count - 1)
    if chance(25), let place = pick(draft.others) {
      let field = draft.columns[place].field
      draft.columns[place].source = .computed(.byKey)
      draft.columns[place].pool += (0..<7).map { Self.plain(field.kind, $0) }
      draft.isDoubtful = true
      return
    }
    guard let name = newName(draft) else { return }
    let function = random.pick([FuzzFunction.text(of: position), .length(of: position), .byKey])
    let kind: FieldKind
    var pool: [PersistentValue]
    switch function {
    case .text:
      kind = .string
      pool = models[model].pools[position].map(FuzzFunction.text)
    case .length:
      kind = random.pick([.int8, .int16, .int64, .uint8, .uint32])
      pool = (0..<4).map { .integer($0) }
    case .byKey, .wrong, .failing:
      kind = random.pick(FieldKind.allCases)
      pool = (0..<7).map { Self.plain(kind, $0) }
    }
    pool += self.pool(kind, 2)
    draft.add(
      FieldSchema(name, kind, isOptional: chance(40)), .computed(function), pool,
      at: random.int(0...draft.columns.count))
    let source = draft.others.first { draft.columns[$0].number == position }
    if chance(40), let source { draft.erase(source) }
  }

  private mutating func changeIndexes(_ draft: inout Draft) {
    if chance(35), !draft.indexes.isEmpty {
      draft.indexes.remove(at: random.int(0...draft.indexes.count - 1))
      return
    }
    let ordered = draft.columns.filter(\.field.kind.isOrdered).map(\.number)
    let numbers = Array(ordered.shuffled(using: &random).prefix(weighted([(65, 1), (35, 2)])))
    let index = Draft.Index(numbers: numbers, isUnique: chance(25))
    guard !numbers.isEmpty, !draft.indexes.contains(index) else { return }
    draft.indexes.append(index)
    if index.isUnique { draft.isDoubtful = true }
  }

  /// Makes a change invalid, or its computation.
  private mutating func spoil(_ draft: inout Draft) {
    draft.isDoubtful = true
    let place = random.int(0...draft.columns.count - 1)
    let field = draft.columns[place].field
    switch random.int(0...6) {
    case 0: draft.columns[place].source = .fill(invalidValue(field))
    case 1: draft.columns[place].source = .field(random.pick([-1, 99, .max, .min]))
    case 2: draft.columns[place].source = .field(0)
    case 3: draft.columns[place].field.kind = random.pick([.int8, .int64, .string, .uuid, .bool])
    case 4:
      if case .field(let position, _) = draft.columns[place].source {
        draft.columns[place].source = .field(position, replacingNil: invalidValue(field))
      }
    default:
      // A collision in an index could be found before or after the failure.
      for number in draft.indexes.indices { draft.indexes[number].isUnique = false }
      guard let place = pick(draft.others) else { return }
      draft.columns[place].source = .computed(chance(50) ? .wrong : .failing)
    }
  }

  /// A name that no field of the draft has; nil if none was found.
  private mutating func newName(_ draft: Draft) -> String? {
    for _ in 0..<10 {
      let name = chance(80) ? random.pick(Self.fieldNames) : random.pick(Self.hostileFieldNames)
      if !draft.hasField(named: name) { return name }
    }
    return nil
  }

  private mutating func pick(_ places: [Int]) -> Int? { places.isEmpty ? nil : random.pick(places) }
}
