import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// W3, W4: indexes that disagree with their records.
  static let indexes: [PlantedDefect] = [
    PlantedDefect("an index finds a record by its old value", .w1, .w3) { flaw in
      let entries = StaleEntries()
      flaw.write = { verb, row, schema, transaction in
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        let before = try transaction.wrapped.values(of: key, in: schema)
        try transaction.wrapped.write(verb, row, in: schema)
        if let before { entries.add(before, key, schema) }
      }
      entries.plant(in: &flaw)
    },
    PlantedDefect("a rollback leaves its entries in the indexes", .w3) { flaw in
      let entries = StaleEntries()
      let written = Remembered<[@Sendable () -> Void]>([])
      flaw.write = { verb, row, schema, transaction in
        try transaction.wrapped.write(verb, row, in: schema)
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        written.change { $0.append { entries.add(row, key, schema) } }
      }
      flaw.transaction = { context, body in
        written.change { $0 = [] }
        do {
          try context.transaction(body)
        } catch {
          for add in written.value { add() }
          throw error
        }
      }
      entries.plant(in: &flaw)
    },
    checkingUnique("unique indexes reject nothing", .w4) { _, _ in false },
    checkingUnique("nil conflicts in a unique index", .w4) { _, _ in true },
    checkingUnique("NaN does not conflict in a unique index", .w4, .v4) { values, _ in
      !values.contains { value in
        if case .double(let number) = value { return number.isNaN }
        return value.isNull
      }
    },
    checkingUnique("only the first field of a compound unique index counts", .w4, fields: 1) { values, _ in
      !values.contains(.null)
    },
    checkingUnique("the values of records with long keys collide with nothing", .w4, isSemantic: false) {
      values, key in
      !values.contains(.null)
        && !key.values.contains {
          if case .text(let text) = $0 { return text.utf8.count > 500 }
          return false
        }
    }.caught(
      by: "building a deferred unique index compares values, however long and different the keys are"),
    PlantedDefect("a rejected update deletes the old record", .w4) { flaw in
      flaw.write = { verb, row, schema, transaction in
        do {
          try transaction.wrapped.write(verb, row, in: schema)
        } catch let error as PersistenceError where error.code == .uniqueViolation {
          _ = try transaction.wrapped.delete(
            RecordKey(schema.keyPositions.map { row[$0] }), in: schema)
          throw error
        }
      }
    },
    PlantedDefect("a record conflicts with its own unique value", .w4) { flaw in
      flaw.write = { verb, row, schema, transaction in
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        if verb != .insert, let before = try transaction.wrapped.values(of: key, in: schema),
          let index = schema.indexes.first(where: { index in
            let values = index.values(of: row, in: schema)
            return index.isUnique && !values.contains(.null) && values == index.values(of: before, in: schema)
          })
        {
          throw PersistenceError.uniqueViolation(
            index.values(of: row, in: schema), of: index, in: schema, key: key)
        }
        try transaction.wrapped.write(verb, row, in: schema)
      }
    },
  ]

  /// A context whose unique indexes follow another rule than the contract's.
  private static func checkingUnique(
    _ name: String, _ rules: ContractRule..., fields: Int = .max, isSemantic: Bool = true,
    collides: @escaping @Sendable ([PersistentValue], RecordKey) -> Bool
  ) -> PlantedDefect {
    PlantedDefect(name, rules: rules, isSemantic: isSemantic) { flaw in
      let declared = Remembered<[StoredName: ModelSchema]>([:])
      flaw.schema = { schema, _ in
        declared.change { $0[StoredName(schema.name)] = schema }
        return try ModelSchema(
          name: schema.name, fields: schema.fields, key: schema.key,
          indexes: schema.indexes.map { IndexSchema($0.fields) })
      }
      flaw.catalog = { stored in
        // A model that was only read may be declared with another schema than stored.
        guard let schema = declared.value[StoredName(stored.name)], schema.fields == stored.fields
        else { return stored }
        return schema
      }
      flaw.write = { verb, row, schema, transaction in
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        let exists = try transaction.wrapped.values(of: key, in: schema) != nil
        if verb == .save || exists == (verb == .update) {
          for index in declared.value[StoredName(schema.name)]?.indexes.filter(\.isUnique) ?? [] {
            let values = Array(index.values(of: row, in: schema).prefix(fields))
            guard collides(values, key) else { continue }
            let same = zip(index.fields, values).map { PredicateNode.comparison(field: $0, .equal, $1) }
            for other in try transaction.wrapped.rows(FetchRequest(schema, where: .all(same))) {
              guard RecordKey(schema.keyPositions.map { other[$0] }) != key else { continue }
              throw PersistenceError.uniqueViolation(values, of: index, in: schema, key: key)
            }
          }
        }
        try transaction.wrapped.write(verb, row, in: schema)
      }
    }
  }
}

extension IndexSchema {
  /// Returns the indexed values of a row.
  func values(of row: [PersistentValue], in schema: ModelSchema) -> [PersistentValue] {
    fields.compactMap { schema.position(of: $0).map { row[$0] } }
  }
}

/// Stale index entries, through which equality finds records.
private final class StaleEntries: Sendable {
  private struct Entry: Hashable {
    let model: String
    let field: String
    let value: PersistentValue
    let key: [PersistentValue]
  }

  private let entries = Remembered<Set<Entry>>([])

  func add(_ row: [PersistentValue], _ key: RecordKey, _ schema: ModelSchema) {
    for index in schema.indexes {
      guard let field = index.fields.first, let position = schema.position(of: field) else { continue }
      let entry = Entry(model: schema.name, field: field, value: row[position], key: key.values)
      entries.change { _ = $0.insert(entry) }
    }
  }

  func plant(in flaw: inout Flaw) {
    flaw.fetch = { [self] request, reader in
      let known = entries.value
      guard !known.isEmpty, request.predicate != nil else { return try reader.fetch(request) }
      let schema = request.schema
      let answering = RowByRow(leaf: { node, value in
        guard case .comparison(let field, .equal, let operand) = node else { return .right }
        let entry = Entry(model: schema.name, field: field, value: operand, key: schema.key.map(value))
        return known.contains(entry) ? .truth(true) : .right
      })
      return try answering.answer(request, reader)
    }
  }
}
