import PersistenceDriver

/// The plan for one model.
extension Migration {
  func modelPlan(
    _ schema: ModelSchema, in snapshot: any StorageSnapshot, present: [StoredName: Int],
    _ progress: (StoreProgress) throws -> Void
  ) throws -> MigrationPlan.Model {
    let mapper = try RecordMapper(options.mapping, schema, allowsLoss: true)
    var counter = LossCounter(mapper, for: destination.capabilities)
    var (records, bytes) = (0, 0)
    try RecordScan(schema: schema, reader: snapshot).run(progress) { row in
      records += 1
      bytes += row.approximateSize
      try counter.note(row)
    } unreadable: { error in
      records += 1
      counter.note(unreadable: error)
    }
    return MigrationPlan.Model(
      name: schema.name, destinationName: mapper.destination.name, records: records, bytes: bytes,
      fields: fields(of: mapper), droppedIndexes: mapper.droppedIndexes, losses: counter.found,
      present: present[StoredName(mapper.destination.name)] ?? 0)
  }

  private func fields(of mapper: RecordMapper) -> [MigrationPlan.Field] {
    mapper.source.fields.enumerated().map { position, field in
      let index = mapper.steps.firstIndex { $0.position == position }
      let target = index.map { mapper.destination.fields[$0] }
      let rules = options.mapping.rules.filter {
        StoredName($0.model) == StoredName(mapper.source.name)
          && StoredName($0.field) == StoredName(field.name)
      }
      return MigrationPlan.Field(
        name: field.name, kind: Self.kind(field), destinationName: target?.name,
        destinationKind: target.map(Self.kind), isKey: mapper.source.keyPositions.contains(position),
        rules: rules.map { "\($0.action)" })
    }
  }

  private static func kind(_ field: FieldSchema) -> String {
    field.kind.rawValue + (field.isOptional ? "?" : "")
  }
}
