import PersistenceCore

extension FuzzGenerator {
  private enum Choice {
    case transaction, write, fetch, read, pages, select, aggregate, find, holdResult, holdSnapshot, readHeld,
      fetchHeld, release, reopen, evolve,
      declared
  }

  mutating func opening() -> [FuzzStep] {
    guard isLarge || chance(92) else { return [] }
    var defining: [FuzzStep] = []
    var filling: [FuzzStep] = []
    var seen: [String] = []
    for model in models.indices {
      let name = models[model].schema.name
      guard !seen.contains(where: { FuzzValue.isSameName($0, name) }) else { continue }
      seen.append(name)
      defining.append(.define(model))
      if isLarge || chance(85) { filling.append(.transaction(rows(model), .commit)) }
    }
    return [.transaction(defining, .commit)] + filling
  }

  /// The last steps of a program: what random steps meet too rarely.
  ///
  /// A request deletes more rows than a page has. Two records with the same values meet in two contexts, and after the
  /// store was opened again. A model is declared in another order, and the store is opened once more.
  mutating func ending() -> [FuzzStep] {
    let model = random.pick(current)
    var steps: [FuzzStep] = []
    if isLarge {
      let all = FuzzQuery(model)
      steps.append(.transaction([.deleteRows(all), .fetch(all)], .rollback))
    }
    let taken = row(model)
    let otherKey = random.pick(models[model].keys)
    let twin = row(taken, of: model, withKey: otherKey)
    // The step between them passes the turn to the other context.
    steps += [.save(model, taken), .find(model, key(model)), .save(model, twin)]
    steps += [.reopen, .save(model, twin), write(model)]
    guard let other = try? reordered(models[model]) else { return steps }
    models.append(other)
    let turned = models.count - 1
    steps += [.define(turned), .save(turned, row(turned)), .reopen, .fetch(query(turned)), write(model)]
    return steps
  }

  /// A row with the values of another one, except its key.
  private func row(
    _ row: [PersistentValue], of model: Int, withKey key: [PersistentValue]
  ) -> [PersistentValue] {
    let schema = models[model].schema
    var row = row
    for (name, value) in zip(schema.key, key) {
      if let position = FuzzReference.position(of: name, in: schema.fields) { row[position] = value }
    }
    return row
  }

  /// Rows for many keys, as single inserts or as one batch.
  private mutating func rows(_ model: Int) -> [FuzzStep] {
    let keys = models[model].keys
    let count = isLarge ? keys.count : random.int(0...keys.count)
    let rows = keys.shuffled(using: &random).prefix(count).map { row(model, key: $0) }
    // A rejected row ends its batch, so models with rejections use several.
    let isUnique = models[model].schema.indexes.contains(where: \.isUnique)
    if !isLarge, chance(20) { return rows.prefix(12).map { .insert(model, $0) } }
    let size = isUnique ? 5 : rows.count
    return stride(from: 0, to: rows.count, by: max(1, size)).map { start in
      .saveMany(model, Array(rows[start..<min(rows.count, start + size)]))
    }
  }

  private mutating func collection() -> FuzzStep {
    let pageSize = isLarge ? random.pick([1_000, 50, 127, 128, 129]) : random.pick([1, 2, 3, 5, 8])
    let start = isLarge ? random.pick([0, 1, 100, 127, 128, 129, 200, 256]) : random.int(0...8)
    let part = start..<start + random.pick(isLarge ? [0, 1, 10, 127, 128, 129, 300] : [0, 1, 2, 5, 20])
    // The typed model is the first one, and its other declarations have no type.
    var query = query(0)
    query.after = nil
    return .collection(query, pageSize: pageSize, part: part)
  }

  /// A step outside any transaction.
  mutating func step() -> FuzzStep {
    if isTyped, chance(40) { return collection() }
    let model = anyModel()
    let choice = weighted([
      (18, Choice.transaction), (22, .write), (60, .fetch), (5, .read), (5, .pages), (5, .find),
      (4, .select), (8, .aggregate), (3, .holdResult),
      (3, .holdSnapshot), (5, .readHeld), (3, .fetchHeld), (1, .release), (isLarge ? 4 : 2, .reopen),
      (mayEvolve ? 5 : 0, .evolve), (isTyped || isRelated ? 0 : 5, .declared),
    ])
    switch choice {
    case .transaction: return transaction(depth: 0)
    case .write: return write(model)
    case .evolve: return evolve(model)
    case .declared: return declared()
    case .holdResult: return .holdResult(random.int(0...2), query(model))
    case .holdSnapshot: return .holdSnapshot(random.int(0...2))
    case .release: return .release(random.int(0...2))
    case .reopen: return .reopen
    default: return maybeInterrupted(look(choice, model))
    }
  }

  private mutating func look(_ choice: Choice, _ model: Int) -> FuzzStep {
    switch choice {
    case .read:
      var runs: [Range<Int>] = []
      for _ in 0..<random.int(1...4) {
        let start =
          isLarge
          ? random.pick([0, 1, 100, 126, 127, 128, 129, 200, 255, 256, 257, 300]) : random.int(0...12)
        runs.append(start..<start + random.pick([0, 1, 2, 5, 127, 128, 129]))
      }
      return .read(query(model), runs)
    case .pages:
      if isRelated, chance(60), let step = sorted(model) { return step }
      var query = query(model)
      query.after = nil
      // Many small pages would dominate the run.
      let pageSize = isLarge ? random.pick([17, 50, 127, 128, 129]) : random.pick([1, 2, 3, 5, 8])
      return .pages(query, pageSize: pageSize)
    case .select: return select(model)
    case .aggregate: return aggregate(model)
    case .find: return .find(model, key(model))
    case .readHeld: return .readHeld(random.int(0...2))
    case .fetchHeld: return .fetchHeld(random.int(0...2), query(model))
    default: return .fetch(query(model))
    }
  }

  private mutating func transaction(depth: Int) -> FuzzStep {
    var steps: [FuzzStep] = []
    let before = current
    for _ in 0..<random.int(1...6) {
      let model = anyModel()
      if depth < 3, chance(18) {
        steps.append(transaction(depth: depth + 1))
      } else if mayEvolve, chance(7) {
        steps.append(evolve(model))
      } else if !isTyped, !isRelated, chance(5) {
        steps.append(declared())
      } else if chance(72) {
        steps.append(write(model))
      } else {
        let choice = weighted([
          (6, Choice.fetch), (1, .read), (1, .pages), (4, .find), (1, .readHeld), (1, .fetchHeld),
          (1, .select), (2, .aggregate),
        ])
        steps.append(maybeInterrupted(look(choice, model)))
      }
    }
    guard chance(35) else { return .transaction(steps, .commit) }
    // The schemas from before the transaction are in use again.
    current = before
    return .transaction(steps, .rollback)
  }

  private mutating func write(_ model: Int) -> FuzzStep {
    switch random.int(0...107) {
    case 0..<22: return .insert(model, written(model))
    case 22..<42: return .update(model, written(model))
    case 42..<66: return .save(model, written(model))
    case 66..<80: return .delete(model, key(model))
    case 80..<87: return .deleteRows(query(model))
    case 87..<89: return .deleteAll(model)
    case 89..<93: return .define(model)
    case 93..<101: return updateRows(model)
    default: return .saveMany(model, (0..<random.int(1...(isLarge ? 140 : 8))).map { _ in row(model) })
    }
  }

  /// A model, usually in the declaration that the store contains.
  private mutating func anyModel() -> Int {
    chance(80) ? random.pick(current) : random.int(0...models.count - 1)
  }

  /// A key; sometimes one that is invalid for the model.
  mutating func key(_ model: Int) -> [PersistentValue] {
    var key = random.pick(models[model].keys)
    if chance(2) { key.append(.integer(1)) }
    return key
  }
}
