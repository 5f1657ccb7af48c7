import PersistenceCore

/// Changes of stored schemas, as the contract states them.
extension FuzzReference {
  /// The kinds that contain every value of a kind.
  private static let wider: [FieldKind: [FieldKind]] = [
    .int8: [.int16, .int32, .int64], .int16: [.int32, .int64], .int32: [.int64],
    .uint8: [.uint16, .uint32, .int16, .int32, .int64], .uint16: [.uint32, .int32, .int64],
    .uint32: [.int64], .float: [.double], .url: [.string],
  ]

  static func widerKinds(than kind: FieldKind) -> [FieldKind] { wider[kind] ?? [] }

  mutating func evolve(_ model: Int, _ change: FuzzChange, _ schemas: [ModelSchema]) throws {
    let (stored, target) = (schemas[model], schemas[change.target])
    try Self.check(change.sources, from: stored, to: target)
    guard let place = try table(of: stored) else { throw Refusal(.schemaMismatch) }
    let isTaken = tables.contains { FuzzValue.isSameName($0.schema.name, target.name) }
    guard FuzzValue.isSameName(stored.name, target.name) || !isTaken else { throw Refusal(.schemaMismatch) }
    let positions = Self.positions(of: stored, in: tables[place].schema)
    let rows = try tables[place].rows.map { row in
      try Self.values(of: positions.map { row[$0] }, change.sources, from: stored, to: target)
    }
    try Self.checkUnique(rows, target)
    // The key's values stay the same, and so does the order of the rows.
    tables[place] = Table(schema: target, rows: rows)
  }

  private static func values(
    of record: [PersistentValue], _ sources: [FuzzChange.Source], from stored: ModelSchema,
    to target: ModelSchema
  ) throws -> [PersistentValue] {
    try zip(target.fields, sources).map { field, source in
      switch source {
      case .field(let position, let replacement):
        return record[position].isNull ? FuzzValue.stored(replacement ?? .null) : record[position]
      case .fill(let value): return FuzzValue.stored(value)
      case .computed(let function):
        let value = try function.value(of: field, from: record, in: stored)
        guard FuzzValue.isValid(value, field) else { throw Refusal(.invalidRequest) }
        return FuzzValue.stored(value)
      }
    }
  }

  private static func checkUnique(_ rows: [[PersistentValue]], _ schema: ModelSchema) throws {
    for index in schema.indexes where index.isUnique {
      let positions = index.fields.compactMap { position(of: $0, in: schema.fields) }
      let keys = rows.map { row in positions.map { row[$0] } }.filter { !$0.contains(where: \.isNull) }
        .sorted { order($0, $1) < 0 }
      for (key, next) in zip(keys, keys.dropFirst()) where order(key, next) == 0 {
        throw Refusal(.uniqueViolation)
      }
    }
  }

  /// Rejects an invalid change, whatever the store contains.
  private static func check(_ sources: [FuzzChange.Source], from stored: ModelSchema, to target: ModelSchema)
    throws
  {
    func require(_ isValid: Bool) throws { if !isValid { throw Refusal(.invalidRequest) } }
    try require(sources.count == target.fields.count)
    for (field, source) in zip(target.fields, sources) {
      switch source {
      case .field(let position, let replacement):
        try require(stored.fields.indices.contains(position))
        let origin = stored.fields[position]
        try require(origin.kind == field.kind || widerKinds(than: origin.kind).contains(field.kind))
        try require(field.isOptional || !origin.isOptional || replacement != nil)
        try require(replacement.map { FuzzValue.isValid($0, field) } ?? true)
      case .fill(let value): try require(FuzzValue.isValid(value, field))
      case .computed: break
      }
    }
    // The key's fields keep their values, kinds and order.
    try require(target.key.count == stored.key.count)
    for (name, origin) in zip(target.key, stored.key) {
      guard let position = position(of: name, in: target.fields),
        case .field(let source, nil) = sources[position],
        source == Self.position(of: origin, in: stored.fields),
        stored.fields[source].kind == target.fields[position].kind
      else { throw Refusal(.invalidRequest) }
    }
  }
}
