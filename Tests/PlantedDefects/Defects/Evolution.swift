import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// S1, S2, S5, S7: changes of schema.
  static let evolution: [PlantedDefect] = [
    filling("a condition does not find a fill") { fills, rows, schema in
      rows.leaf = { node, _ in
        guard case .comparison(let field, .equal, let value) = node, fills.contains(value, field, schema)
        else {
          return .right
        }
        return .truth(false)
      }
    },
    filling("an index has nil in place of a fill") { fills, rows, schema in
      rows.compare = { left, right, order in
        let (left, right) = (
          fills.hidden(left, order.field, schema), fills.hidden(right, order.field, schema)
        )
        return RowByRow.compare(left, right, order)
      }
    },
    PlantedDefect("a later fill replaces an earlier one", .s2, isSemantic: false) { flaw in
      let fills = Fills()
      flaw.evolve = { change, transaction in
        try transaction.wrapped.evolve(change)
        for (field, value) in Fills.values(of: change) {
          for (other, earlier) in fills.values(of: change.stored) where earlier.tag == value.tag {
            let rows = try FetchRequest(change.target, where: .comparison(field: other, .equal, earlier))
            guard other != field else { continue }
            _ = try transaction.wrapped.update(
              UpdateRequest(rows, set: [FieldAssignment(other, value)]))
          }
        }
        fills.add(change)
      }
    },
    PlantedDefect("a save by an older version resets the fields that it lacks", .s1, isSemantic: false) {
      flaw in
      let fills = Fills()
      flaw.evolve = { change, transaction in
        try transaction.wrapped.evolve(change)
        fills.add(change)
      }
      flaw.transaction = { context, body in
        try context.transaction { try body(ResettingTransaction($0, fills)) }
      }
    },
    PlantedDefect("a rollback does not restore a schema", .s5, .w3, isSemantic: false) { flaw in
      let made = Remembered<[SchemaChange]>([])
      remember(made, in: &flaw)
      flaw.transaction = { context, body in
        made.change { $0 = [] }
        do {
          try context.transaction(body)
        } catch {
          let changes = made.value
          try? context.transaction { transaction in for change in changes { try transaction.evolve(change) } }
          throw error
        }
      }
    },
    PlantedDefect("a nested rollback does not restore a schema", .s5, .w3, isSemantic: false) { flaw in
      let made = Remembered<[SchemaChange]>([])
      remember(made, in: &flaw)
      flaw.nested = { transaction, body in
        let count = made.value.count
        do {
          try transaction.wrapped.nested(body)
        } catch {
          for change in made.value.dropFirst(count) { try? transaction.wrapped.evolve(change) }
          throw error
        }
      }
    },
    PlantedDefect("a renamed field loses its values", .s1, isSemantic: false) { flaw in
      flaw.evolve = { change, transaction in
        var sources = change.sources
        for (position, field) in change.target.fields.enumerated() {
          guard case .field(let origin, nil) = sources[position],
            StoredName(change.stored.fields[origin].name) != StoredName(field.name),
            !change.target.keyPositions.contains(position)
          else { continue }
          sources[position] = .fill(field.isOptional ? .null : field.kind.zero)
        }
        try transaction.wrapped.evolve(change.with(sources))
      }
    },
    PlantedDefect("a reordering exchanges two fields of one kind", .s1, isSemantic: false) { flaw in
      flaw.evolve = { change, transaction in
        try transaction.wrapped.evolve(change.exchangingTwoSources() ?? change)
      }
    },
    PlantedDefect("a half-built index is read", .s9, isSemantic: false) { flaw in
      let waiting = Remembered<[StoredName: Set<String>]>([:])
      flaw.evolve = { change, transaction in
        try transaction.wrapped.evolve(change)
        let indexes = zip(change.target.indexes, change.indexOrigins).filter { index, origin in
          origin == nil && change.mayDefer(index)
        }
        let model = StoredName(change.target.name)
        waiting.change { $0[model, default: []].formUnion(indexes.compactMap(\.0.fields.first)) }
      }
      flaw.fetch = { request, reader in
        let fields = waiting.value[StoredName(request.schema.name)] ?? []
        var rows = RowByRow()
        rows.leaf = { node, _ in
          guard case .comparison(let field, .equal, _) = node, fields.contains(field) else { return .right }
          return .truth(false)
        }
        return try rows.answer(request, reader)
      }
    },
    PlantedDefect("all records get the value computed for the first one", .s7, isSemantic: false) { flaw in
      flaw.evolve = { change, transaction in
        guard let compute = change.compute else { return try transaction.wrapped.evolve(change) }
        let first = Remembered<[PersistentValue]?>(nil)
        let reusing = try SchemaChange(from: change.stored, to: change.target, sources: change.sources) {
          row, computed in
          try compute(row, computed)
          let values = try computed.withRow { try $0.values() }
          computed.set(
            first.change { known in
              known = known ?? values
              return known ?? values
            })
        }
        try transaction.wrapped.evolve(reusing)
      }
    },
  ]

  /// A defect in the answers to requests for fields that have been filled.
  private static func filling(
    _ name: String, plant: @escaping @Sendable (Fills, inout RowByRow, ModelSchema) -> Void
  ) -> PlantedDefect {
    PlantedDefect(name, .s2, isSemantic: false) { flaw in
      let fills = Fills()
      flaw.evolve = { change, transaction in
        try transaction.wrapped.evolve(change)
        fills.add(change)
      }
      flaw.fetch = { request, reader in
        var rows = RowByRow()
        plant(fills, &rows, request.schema)
        return try rows.answer(request, reader)
      }
    }
  }

  private static func remember(_ made: Remembered<[SchemaChange]>, in flaw: inout Flaw) {
    flaw.evolve = { change, transaction in
      try transaction.wrapped.evolve(change)
      made.change { $0.append(change) }
    }
  }
}

extension SchemaChange {
  fileprivate func with(_ sources: [Source]) throws -> SchemaChange {
    try SchemaChange(from: stored, to: target, sources: sources, compute: compute)
  }

  /// The change with the sources of two fields exchanged; nil if no two fields have values that fit both.
  fileprivate func exchangingTwoSources() -> SchemaChange? {
    for left in sources.indices {
      for right in sources.indices where right > left {
        guard case .field = sources[left], case .field = sources[right] else { continue }
        var exchanged = sources
        exchanged.swapAt(left, right)
        if let change = try? with(exchanged) { return change }
      }
    }
    return nil
  }
}

/// The fills of a store's changes.
private final class Fills: Sendable {
  private let all = Remembered<[StoredName: [String: PersistentValue]]>([:])

  /// The fills of a change, except nil.
  static func values(of change: SchemaChange) -> [(field: String, value: PersistentValue)] {
    zip(change.target.fields, change.sources).compactMap { field, source in
      guard case .fill(let value) = source, !value.isNull else { return nil }
      return (field.name, value)
    }
  }

  func add(_ change: SchemaChange) {
    let fills = Self.values(of: change)
    let model = StoredName(change.target.name)
    all.change { all in for fill in fills { all[model, default: [:]][fill.field] = fill.value } }
  }

  func values(of schema: ModelSchema) -> [String: PersistentValue] {
    all.value[StoredName(schema.name)] ?? [:]
  }

  func contains(_ value: PersistentValue, _ field: String, _ schema: ModelSchema) -> Bool {
    values(of: schema)[field] == value
  }

  /// Nil in place of a fill.
  func hidden(_ value: PersistentValue, _ field: String, _ schema: ModelSchema) -> PersistentValue {
    contains(value, field, schema) ? .null : value
  }
}

/// A transaction that resets filled fields when it saves a record that it has read, as for an older version.
private final class ResettingTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  private let fills: Fills
  private var found: Set<RecordKey> = []

  init(_ wrapped: any StorageTransaction, _ fills: Fills) {
    self.wrapped = wrapped
    self.fills = fills
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    found.insert(key)
    return try wrapped.find(key, in: schema, body)
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    guard found.contains(try RecordKey(of: row, in: schema)) else { return try wrapped.save(row, in: schema) }
    var values = try row.values()
    for (field, value) in fills.values(of: schema) {
      if let position = schema.position(of: field) { values[position] = value }
    }
    try wrapped.write(.save, values, in: schema)
  }
}
