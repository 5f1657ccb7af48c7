import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

extension PlantedDefect {
  /// W4, W5, V2, E4: what an opening does not find again.
  static let reopening: [PlantedDefect] = [
    knowingUnique("unique values are forgotten when the store is opened again", .w4, knowsStored: false)
      .caught(by: "values of unique indexes are still taken after the store is reopened"),
    PlantedDefect(
      "a definition in another order starts the model anew", .e4,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        let turned = Remembered<[ModelSchema]>([])
        flaw.schema = { schema, reader in
          let stored = try reader.schema(named: schema.name)
          let (old, new) = (stored?.fields.map(\.name) ?? [], schema.fields.map(\.name))
          if old != new, Set(old) == Set(new) {
            turned.change { $0.append(schema) }
          }
          return schema
        }
        flaw.close = { context in
          let schemas = turned.value
          if !schemas.isEmpty {
            try context.transaction { for schema in schemas { _ = try $0.deleteAll(in: schema) } }
          }
          try context.close()
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "a definition in another order of fields keeps the records, also after reopening"),
    PlantedDefect(
      "closing drops models without records", .w5,
      opening: { path, options, monitoring in
        var flaw = Flaw()
        flaw.close = { context in
          if !context.capabilities.isReadOnly {
            try context.transaction { transaction in
              for schema in try transaction.catalog() where try transaction.count(FetchRequest(schema)) == 0 {
                try transaction.drop(schema)
              }
            }
          }
          try context.close()
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "models without records survive many updates of other models, and reopening"),
    PlantedDefect(
      "a store with a value beyond 2 MiB cannot be opened", .v2,
      opening: { path, options, monitoring in
        let context = try sqlite(path, options, monitoring)
        for schema in try context.catalog() {
          for row in try context.rows(FetchRequest(schema)) where row.contains(where: { $0.size > 2 << 20 }) {
            throw PersistenceError.damaged("a length in the store exceeds the limit")
          }
        }
        return context
      }
    ).caught(by: "values of several MiB are read back after reopening"),
    PlantedDefect(
      "an index is not rebuilt when the store is opened", .w5,
      opening: { path, options, monitoring in
        let context = try sqlite(path, options, monitoring)
        var known: Set<RecordKey> = []
        for schema in try context.catalog() {
          for row in try context.rows(FetchRequest(schema)) {
            known.insert(RecordKey(schema.keyPositions.map { row[$0] }))
          }
        }
        var flaw = Flaw()
        let unindexed = known
        flaw.fetch = { request, reader in
          let schema = request.schema
          let rows = RowByRow(leaf: { node, value in
            guard case .comparison(let field, .equal, _) = node,
              schema.indexes.contains(where: { $0.fields.first == field }),
              unindexed.contains(RecordKey(schema.key.map(value)))
            else { return .right }
            return .truth(false)
          })
          return try rows.answer(request, reader)
        }
        return FlawedContext(context, flaw)
      }
    ).caught(by: "a store reopened after each of many transactions keeps their records and index entries"),
    PlantedDefect(
      "records that were rolled back appear when the store is opened again", .w5,
      opening: { path, options, monitoring in
        let undone = Remembered<[[WriteRecorder.Write]]>([])
        var flaw = Flaw()
        flaw.transaction = { context, body in
          let recorder = WriteRecorder()
          do {
            try context.transaction { try body(RecordedTransaction($0, recorder)) }
          } catch {
            let writes = recorder.all
            undone.change { $0.append(writes) }
            throw error
          }
        }
        flaw.close = { context in
          for writes in undone.value { try? context.apply(writes) }
          undone.change { $0 = [] }
          try context.close()
        }
        return FlawedContext(try sqlite(path, options, monitoring), flaw)
      }
    ).caught(by: "records that were rolled back are still absent after reopening"),
  ]

  /// A context that knows the unique values of its own records, and of those that were stored when it opened.
  static func knowingUnique(_ name: String, _ rule: ContractRule, knowsStored: Bool) -> PlantedDefect {
    PlantedDefect(name, rule, opening: uniqueValues(knowsStored: knowsStored, knowsOthers: false))
  }

  /// Opens a context that enforces unique values itself.
  static func uniqueValues(knowsStored: Bool, knowsOthers: Bool) -> ContextUnderTest.Opening {
    { path, options, monitoring in
      let context = try sqlite(path, options, monitoring)
      // The engine enforces nothing; the flaw compares with the rows that it knows.
      let declared = Remembered<[StoredName: ModelSchema]>([:])
      let known = Remembered<Set<RecordKey>>([])
      if knowsStored {
        for schema in try context.catalog() {
          for row in try context.rows(FetchRequest(schema)) {
            let key = RecordKey(schema.keyPositions.map { row[$0] })
            known.change { _ = $0.insert(key) }
          }
        }
      }
      var flaw = Flaw()
      // Only an opening can reveal what one process forgets when it opens the store.
      if !knowsStored { flaw.capabilities = { $0.isMultiProcess = false } }
      flaw.schema = { schema, _ in
        declared.change { $0[StoredName(schema.name)] = schema }
        return try ModelSchema(
          name: schema.name, fields: schema.fields, key: schema.key,
          indexes: schema.indexes.map { IndexSchema($0.fields) })
      }
      flaw.catalog = { declared.value[StoredName($0.name)] ?? $0 }
      flaw.write = { verb, row, schema, transaction in
        let key = RecordKey(schema.keyPositions.map { row[$0] })
        for index in declared.value[StoredName(schema.name)]?.indexes.filter(\.isUnique) ?? [] {
          let values = index.values(of: row, in: schema)
          guard !values.contains(.null) else { continue }
          let same = zip(index.fields, values).map { PredicateNode.comparison(field: $0, .equal, $1) }
          for other in try transaction.wrapped.rows(FetchRequest(schema, where: .all(same))) {
            let holder = RecordKey(schema.keyPositions.map { other[$0] })
            guard holder != key, knowsOthers || known.value.contains(holder) else { continue }
            throw PersistenceError.uniqueViolation(values, of: index, in: schema, key: key)
          }
        }
        try transaction.wrapped.write(verb, row, in: schema)
        known.change { _ = $0.insert(key) }
      }
      return FlawedContext(context, flaw)
    }
  }
}

extension PersistentValue {
  /// The number of bytes of a text or blob; 0 for other values.
  fileprivate var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    default: 0
    }
  }
}
