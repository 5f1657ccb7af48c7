import PersistenceDriver

/// The effect of a change of schema on a stored model.
struct EvolutionPlan {
  /// The model after the change.
  let model: StoredModel
  /// The prefixes of the indexes whose entries the change removes.
  let removedIndexes: [[UInt8]]
  /// The positions of the indexes that the change builds from the records.
  let addedIndexes: [Int]
  /// Whether the change rewrites all records: it computes values or erases fields.
  let isRewriting: Bool
  /// Whether the build of waiting indexes starts from the first record.
  let restartsBuild: Bool

  var cost: EvolutionCost { isRewriting ? .rewrite : addedIndexes.isEmpty ? .catalog : .indexes }

  /// Plans a change, whose stored schema is compatible with the model's.
  init(_ change: SchemaChange, of old: StoredModel, isEmpty: Bool) throws {
    // A schema of its own has a new identity, by which caches detect the change.
    let target = try ModelSchema(
      name: change.target.name, fields: change.target.fields, key: change.target.key,
      indexes: change.target.indexes)
    try Catalog.requireIndexLimit(target)
    let sources = Self.sources(change, in: old.schema)
    isRewriting = !isEmpty && Self.isRewriting(sources, old)

    let numbers = old.evolution?.indexNumbers ?? Array(old.schema.indexes.indices)
    let kept = Self.keptNumbers(change, numbers, isEmpty ? nil : old)
    removedIndexes = numbers.filter { !kept.contains($0) }.map { KeyPrefix.index(old.number, $0) }
    let added = isEmpty ? [] : kept.indices.filter { kept[$0] == nil }
    let isRewriting = isRewriting
    let deferred = added.filter { !isRewriting && change.mayDefer(change.target.indexes[$0]) }
    addedIndexes = added.filter { !deferred.contains($0) }
    var used = Set(kept.compactMap { $0 })
    var next = 0
    let indexNumbers = kept.map { number in
      if let number { return number }
      while !used.insert(next).inserted { next += 1 }
      return next
    }
    let stillWaiting = isEmpty ? [] : (old.evolution?.waiting ?? []).filter { kept.contains($0) }
    let waiting = (stillWaiting + deferred.map { indexNumbers[$0] }).sorted()
    // The position of a build is the key of a record.
    restartsBuild = isRewriting || !deferred.isEmpty || waiting.isEmpty

    let recordsNumber = old.evolution?.recordsNumber
    let revision = old.evolution?.revision ?? 1
    let earlier = old.evolution?.earlier ?? []
    let evolution: ModelEvolution
    if isEmpty {
      evolution = ModelEvolution(
        revision: 1, earlier: [], indexNumbers: indexNumbers, recordsNumber: recordsNumber)
    } else if isRewriting {
      evolution = ModelEvolution(
        revision: revision == .max ? 1 : revision + 1, earlier: [], indexNumbers: indexNumbers,
        waiting: waiting, recordsNumber: recordsNumber)
    } else if sources == old.schema.fields.indices.map({ .field($0) }) {
      // Rows keep their form: new names, wider kinds and optional fields do not change their bytes.
      evolution = ModelEvolution(
        revision: revision, earlier: earlier, indexNumbers: indexNumbers, waiting: waiting,
        recordsNumber: recordsNumber)
    } else {
      let last = RowRevision(
        fields: old.schema.fields.map(RowRevision.Field.init),
        sources: old.schema.fields.indices.map { .field($0) })
      evolution = ModelEvolution(
        revision: revision + 1, earlier: (earlier + [last]).map { $0.applying(sources) },
        indexNumbers: indexNumbers, waiting: waiting, recordsNumber: recordsNumber)
    }
    var model = StoredModel(number: old.number, schema: target)
    model.evolution = evolution
    self.model = model
  }

  /// The model after the change, if its records are copied to another number.
  func model(recordsNumber: UInt16) -> StoredModel {
    guard let evolution = model.evolution else { return model }
    var moved = model
    moved.evolution = ModelEvolution(
      revision: evolution.revision, earlier: evolution.earlier, indexNumbers: evolution.indexNumbers,
      waiting: evolution.waiting, recordsNumber: recordsNumber)
    return moved
  }

  /// The sources of a change, with the positions of the catalog's schema.
  private static func sources(_ change: SchemaChange, in stored: ModelSchema) -> [SchemaChange.Source] {
    change.sources.map { source in
      switch source {
      case .field(let position, let replacement):
        let field = change.stored.fields[position].name
        return .field(stored.position(of: field) ?? position, replacingNil: replacement?.normalized)
      case .fill(let value): return .fill(value.normalized)
      case .computed: return .computed
      }
    }
  }

  private static func isRewriting(_ sources: [SchemaChange.Source], _ old: StoredModel) -> Bool {
    var erased = Set(old.schema.fields.indices)
    for source in sources {
      switch source {
      case .field(let position, _): erased.remove(position)
      case .fill: break
      case .computed: return true
      }
    }
    return !erased.isEmpty || old.evolution?.revision == .max
  }

  /// The number of each target index whose entries stay valid; nil for an index to build.
  private static func keptNumbers(_ change: SchemaChange, _ numbers: [Int], _ old: StoredModel?) -> [Int?] {
    var kept: [Int?] = []
    for origin in change.indexOrigins {
      guard let old, old.indexing == .built, let origin,
        let position = old.schema.indexes.firstIndex(of: change.stored.indexes[origin]),
        !kept.contains(numbers[position])
      else {
        kept.append(nil)
        continue
      }
      kept.append(numbers[position])
    }
    return kept
  }
}
