#if CommandLineTool
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceMigration

  #if SQLite
    import PersistenceSQLite
  #endif

  /// Compares the indexes of a store with its records, and finds records with the same values of a unique index (contract
  /// W4).
  ///
  /// Engines reject such records, but not the ones that a person writes into a JSON directory.
  ///
  /// - Complexity: One scan of the records of each model with indexes, and two of each index.
  struct IndexVerification {
    let snapshot: any StorageSnapshot
    let session: ToolSession

    /// Whether the check of a store's engine does all this itself.
    static func isPartOfCheck(by store: any StorageContext) -> Bool {
      #if SQLite
        return store.innermost is SQLiteContext
      #else
        return false
      #endif
    }

    func run(_ report: (StoreFinding) throws -> Void) throws {
      for schema in try snapshot.catalog() where !schema.indexes.isEmpty {
        do {
          try checkEntries(of: schema, report)
          for index in schema.indexes where index.isUnique { try checkValues(of: index, schema, report) }
        } catch let error as PersistenceError where error.code == .damaged {
          // The other findings are worth more than the rest of this model.
          try report(StoreFinding(.damaged, schema.name, "cannot check its indexes: \(error.message)"))
        }
      }
    }

    private func checkEntries(of schema: ModelSchema, _ report: (StoreFinding) throws -> Void) throws {
      let indexes = try IndexCheck.all(of: schema, in: snapshot)
      guard !indexes.isEmpty else { return }
      var sums = indexes.map { _ in UInt64(0) }
      try snapshot.fetch(FetchRequest(schema)).forEach(session) { row in
        for (number, index) in indexes.enumerated() { sums[number] &+= index.hash(of: row) }
      }
      for (index, sum) in zip(indexes, sums)
      where try index.sum(in: snapshot, beforePage: session.checkInterrupt) != sum {
        try report(
          StoreFinding(.damaged, schema.name, "the index on \(index.fields) differs from the records"))
      }
    }

    private func checkValues(
      of index: IndexSchema, _ schema: ModelSchema, _ report: (StoreFinding) throws -> Void
    ) throws {
      let positions = try index.fields.map { try schema.requiredPosition(of: $0) }
      // Nil never collides.
      let request = try FetchRequest(
        schema, where: .all(index.fields.map { .comparison(field: $0, .notEqual, .null) }),
        order: index.fields.map { FieldOrder($0) })
      let rows = try snapshot.fetch(request, selecting: positions + schema.keyPositions)
      var first: (values: [PersistentValue], key: RecordKey)?
      try rows.forEach(session) { row in
        var (values, key) = ([PersistentValue](), [PersistentValue]())
        for place in positions.indices { values.append(try row.value(at: place)) }
        for place in schema.keyPositions.indices { key.append(try row.value(at: positions.count + place)) }
        guard let known = first, known.values == values else { return first = (values, RecordKey(key)) }
        let fields = index.fields.map { "“\($0)”" }.joined(separator: ", ")
        try report(
          StoreFinding(
            .damaged, "\(schema.name) \(RecordKey(key))",
            "has the same unique \(fields) as \(schema.name) \(known.key)"))
      }
    }
  }
#endif
