import PersistenceCore

/// The records of a stored model in the form of another declaration.
struct FuzzView {
  /// The position of the stored model's table.
  let table: Int
  /// The stored position of each declared field, or the constant of a field that the store lacks.
  let sources: [Source]

  enum Source {
    case stored(Int)
    case constant(PersistentValue)
  }

  var storedPositions: [Int] {
    sources.compactMap { if case .stored(let position) = $0 { position } else { nil } }
  }

  func row(of record: [PersistentValue]) -> [PersistentValue] {
    sources.map { source in
      switch source {
      case .stored(let position): record[position]
      case .constant(let value): value
      }
    }
  }
}

/// Reads and writes through declarations that differ from the stored schemas (contract S1 and S2).
extension FuzzReference {
  /// Returns how a declaration sees the stored model; nil if the store does not contain the model.
  private func view(_ declared: ModelSchema, _ words: FuzzWords) throws -> FuzzView? {
    func table(named name: String) -> Int? {
      tables.firstIndex { FuzzValue.isSameName($0.schema.name, name) }
    }
    if let past = words.past {
      if tables.isEmpty { return nil }
      return FuzzView(table: 0, sources: try sources(of: declared, past))
    }
    guard let table = table(named: declared.name) ?? words.formerName.flatMap(table) else { return nil }
    let stored = tables[table].schema
    let sources = try declared.fields.map { field in
      let words = words.field(named: field.name)
      var position = Self.position(of: field.name, in: stored.fields)
      if position == nil, let name = words?.formerName, Self.position(of: name, in: declared.fields) == nil {
        position = Self.position(of: name, in: stored.fields)
      }
      guard let position else {
        guard let fill = words?.fill ?? (field.isOptional ? .null : nil) else {
          throw Refusal(.schemaMismatch)
        }
        return FuzzView.Source.constant(FuzzValue.stored(fill))
      }
      let origin = stored.fields[position]
      let isWider = origin.kind == field.kind || Self.widerKinds(than: origin.kind).contains(field.kind)
      guard isWider, field.isOptional || !origin.isOptional else { throw Refusal(.schemaMismatch) }
      return .stored(position)
    }
    func positions(_ names: [String], _ schema: ModelSchema) -> [Int] {
      names.compactMap { Self.position(of: $0, in: schema.fields) }
    }
    let key = positions(declared.key, declared).map { position in
      if case .stored(let position) = sources[position] { position } else { -1 }
    }
    guard key == positions(stored.key, stored) else { throw Refusal(.schemaMismatch) }
    return FuzzView(table: table, sources: sources)
  }

  /// Returns a reference model with the content that a declaration sees.
  func seen(by declared: ModelSchema, _ words: FuzzWords) throws -> FuzzReference {
    var seen = FuzzReference()
    if let view = try view(declared, words) {
      seen.tables = [Table(schema: declared, rows: tables[view.table].rows.map(view.row))]
    }
    return seen
  }

  /// Writes through a declaration.
  mutating func write(_ step: FuzzStep, _ words: FuzzWords, _ schemas: [ModelSchema]) throws
    -> FuzzOutcome.Value
  {
    // An invalid request is rejected whatever the store contains.
    var empty = FuzzReference()
    switch step {
    case .define(let model):
      guard let past = words.past else { break }
      if let restored = past.restored { try restore(restored) } else { try open(schemas[model], past) }
    case .insert(let model, let row): try write(row, schemas[model], words, .absent)
    case .update(let model, let row): try write(row, schemas[model], words, .present)
    case .save(let model, let row): try write(row, schemas[model], words, .either)
    case .delete(let model, let key):
      _ = try empty.delete(key, in: schemas[model])
      let view = try view(schemas[model], words)
      return .truth(try delete(key, in: view.map { tables[$0.table].schema } ?? schemas[model]))
    case .deleteAll(let model):
      let view = try view(schemas[model], words)
      return .number(try deleteAll(in: view.map { tables[$0.table].schema } ?? schemas[model]))
    case .deleteRows(let query):
      _ = try empty.deleteRows(query, schemas)
      guard let view = try view(schemas[query.model], words) else { return .number(0) }
      let keys = try keys(query, words, schemas)
      for key in keys { _ = try delete(key, in: tables[view.table].schema) }
      return .number(keys.count)
    case .updateRows(let query, let assignments):
      _ = try empty.updateRows(query, schemas, set: assignments)
      return .number(try updateRows(query, assignments, words, schemas))
    default: break
    }
    return .done
  }

  private mutating func updateRows(
    _ query: FuzzQuery, _ assignments: [FieldAssignment], _ words: FuzzWords, _ schemas: [ModelSchema]
  ) throws -> Int {
    let declared = schemas[query.model]
    guard let view = try view(declared, words) else { return 0 }
    let stored = tables[view.table].schema
    let positions = try assignments.map { assignment in
      guard let position = Self.position(of: assignment.field, in: declared.fields),
        case .stored(let place) = view.sources[position]
      else { throw Refusal(.schemaMismatch) }
      return place
    }
    // Of two assignments to one field, the later one counts.
    let last = Dictionary(zip(positions, assignments)) { $1 }
    for (position, assignment) in last where !FuzzValue.isValid(assignment.value, stored.fields[position]) {
      throw Refusal(.invalidRequest)
    }
    let keys = try keys(query, words, schemas)
    for key in keys {
      guard var record = try find(key, in: stored) else { continue }
      for (position, assignment) in last { record[position] = assignment.value }
      try write(record, in: stored, .present)
    }
    return keys.count
  }

  /// Returns the keys of the rows that a declaration's request finds.
  private func keys(_ query: FuzzQuery, _ words: FuzzWords, _ schemas: [ModelSchema]) throws
    -> [[PersistentValue]]
  {
    let declared = schemas[query.model]
    let positions = declared.key.compactMap { Self.position(of: $0, in: declared.fields) }
    return try seen(by: declared, words).rows(query, schemas).map { row in positions.map { row[$0] } }
  }

  private mutating func write(
    _ row: [PersistentValue], _ declared: ModelSchema, _ words: FuzzWords, _ expectation: Expectation
  ) throws {
    guard row.count == declared.fields.count, zip(row, declared.fields).allSatisfy(FuzzValue.isValid) else {
      throw Refusal(.invalidRequest)
    }
    guard let view = try view(declared, words) else { throw Refusal(.invalidRequest) }
    let stored = tables[view.table].schema
    let seen = view.storedPositions
    let unseen = stored.fields.indices.filter { !seen.contains($0) }
    var record: [PersistentValue?] = stored.fields.map { _ in nil }
    if expectation != .absent, !unseen.isEmpty {
      let key = declared.key.compactMap { Self.position(of: $0, in: declared.fields) }.map { row[$0] }
      let existing = try find(key, in: stored)
      if existing == nil, expectation == .present { throw Refusal(.notFound) }
      if let existing { record = existing }
    }
    for (value, source) in zip(row, view.sources) {
      switch source {
      case .stored(let position): record[position] = value
      case .constant(let constant):
        // The store has no place for another value.
        guard FuzzValue.order(FuzzValue.stored(value), constant) == 0 else { throw Refusal(.schemaMismatch) }
      }
    }
    for position in unseen where record[position] == nil {
      let initial =
        columns.isEmpty ? stored.fields[position].isOptional ? .null : nil : columns[position].initial
      guard let initial else { throw Refusal(.schemaMismatch) }
      record[position] = FuzzValue.stored(initial)
    }
    try write(record.map { $0 ?? .null }, in: stored, expectation)
  }
}
