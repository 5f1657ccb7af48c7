import CSQLite
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

extension SQLiteTransaction {
  func evolve(_ change: SchemaChange) throws {
    let evolution = try withReader { try $0.evolution(for: change) }
    try evolution.requireNoLoss(location: connection.store.location)
    try nested {
      // Columns, indexes and triggers of other programs would disappear with the table.
      if try evolution.isEmpty && evolution.foreignColumns.isEmpty
        && withReader({ try $0.foreignObjects(of: evolution.layout).isEmpty })
      {
        return try withReader { connection in
          try connection.drop(evolution.layout)
          try connection.create(
            change.target, awaitingIndexes: false, isClustered: evolution.isClustered)
        }
      }
      try withReader { connection in try connection.reportingProgress { try connection.evolve(evolution) } }
      guard !evolution.missingIndexes.isEmpty else { return }
      try build(evolution.missingIndexes, of: evolution.target)
    }
  }
}

extension SQLiteConnection {
  /// Changes the table, its view and its catalog entry; the caller builds the missing indexes afterwards.
  fileprivate func evolve(_ evolution: SQLiteEvolution) throws {
    let (layout, target) = (evolution.layout, evolution.target)
    let (old, new) = (SQLiteDefinition(layout), SQLiteDefinition(target))
    let changesView = old.view(named: "") != new.view(named: "")
    let hadView = try changesView ? dropView(of: layout) : false
    if evolution.needsNewTable {
      try moveRecords(evolution)
    } else {
      try alterTable(evolution)
    }
    // A view that is missing although the model had dates was removed on purpose.
    if changesView, hadView || old.view(named: "") == nil {
      var taken = try takenNames()
      if let view = new.view(taken: &taken) {
        try execute(view, "create the view of \(target.schema.name)")
      }
    }
    _ = try rows(
      "UPDATE \(SQLiteCatalog.table) SET model = ?1, layout = ?2 WHERE model = ?3",
      [.text(target.schema.name), .text(try target.encoded()), .text(layout.schema.name)])
    try advanceSchemaVersion()
    discardCatalog()
    try refreshCatalog()
  }

  /// Increments SQLite's schema version, by which other connections notice a new catalog.
  private func advanceSchemaVersion() throws {
    var taken = try takenNames()
    let name = SQLiteDialect().inFile(SQLiteNaming.free("evolution", fallback: "view", taken: &taken))
    try execute("CREATE VIEW \(name) AS SELECT 1; DROP VIEW \(name)", "change the schema version")
  }

  private func alterTable(_ evolution: SQLiteEvolution) throws {
    let dialect = SQLiteDialect()
    let model = evolution.change.stored.name
    let table = dialect.table(evolution.layout.table)
    try dropIndexes(evolution.droppedIndexes, of: evolution.layout)
    for column in evolution.added {
      let name = dialect.identifier(column.name)
      let clause = column.literal.map { " DEFAULT \($0)" } ?? ""
      try execute(
        "ALTER TABLE \(table) ADD COLUMN \(name) \(column.type)\(clause)", "add a field to \(model)")
      guard try rows("SELECT \(name) IS ?1 FROM \(table) LIMIT 1", [column.fill]) != [[.integer(1)]] else {
        continue
      }
      _ = try rows("UPDATE \(table) SET \(name) = ?1", [column.fill])
    }
    if !evolution.computed.isEmpty {
      let columns = evolution.computed.map(dialect.identifier)
      try compute(evolution) { expressions in
        let assignments = zip(columns, expressions).map { "\($0) = \($1)" }
        return ("UPDATE \(table) SET \(assignments.joined(separator: ", "))", [])
      }
    }
    for (column, value) in evolution.replacements {
      let name = dialect.identifier(column)
      _ = try rows("UPDATE \(table) SET \(name) = ?1 WHERE \(name) IS NULL", [value])
    }
  }

  private func dropIndexes(_ indexes: [IndexSchema], of layout: SQLiteLayout) throws {
    let definition = SQLiteDefinition(layout)
    var objects = try attachedObjects(of: layout)
    for index in indexes {
      guard let found = objects.firstIndex(where: { definition.makes(index, named: $0.name, by: $0.sql) })
      else {
        continue
      }
      try execute(
        "DROP INDEX \(SQLiteDialect().inFile(objects.remove(at: found).name))",
        "remove an index of \(layout.schema.name)")
    }
  }

  /// The indexes and triggers of a table, without the indexes that SQLite makes itself.
  private func attachedObjects(of layout: SQLiteLayout) throws -> [(name: String, sql: String)] {
    // SQLite keeps the table's name as the trigger's statement spells it.
    let list =
      "SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND tbl_name = ?1 COLLATE NOCASE "
      + "AND sql IS NOT NULL"
    return try rows(list, [.text(layout.table)]).compactMap { row in
      guard case .text(let name) = row[0], case .text(let sql) = row[1] else { return nil }
      return (name, sql)
    }
  }

  /// The indexes and triggers that other programs made for a table.
  fileprivate func foreignObjects(of layout: SQLiteLayout) throws -> [(name: String, sql: String)] {
    let definition = SQLiteDefinition(layout)
    return try attachedObjects(of: layout).filter { object in
      !layout.schema.indexes.contains { definition.makes($0, named: object.name, by: object.sql) }
    }
  }
}

/// Changes that no `ALTER TABLE` of SQLite makes.
extension SQLiteConnection {
  /// Replaces the table by a new one of the same name, with the changed records, and without this package's indexes.
  private func moveRecords(_ evolution: SQLiteEvolution) throws {
    let dialect = SQLiteDialect()
    let (layout, target) = (evolution.layout, evolution.target)
    let foreign = try foreignObjects(of: layout)
    var taken = try takenNames()
    let name = SQLiteNaming.free("\(layout.table)_new", fallback: "model", taken: &taken)
    let created = SQLiteDefinition(target.schema, table: name, columns: target.columns)
    try execute(
      created.table(isClustered: evolution.isClustered), "create the table of \(target.schema.name)")
    try copy(evolution, to: name)
    // With foreign keys, SQLite would first delete the rows of the table, and those that refer to them.
    let enforcesForeignKeys = persistence_sqlite3_setting(handle, SQLITE_DBCONFIG_ENABLE_FKEY)
    persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    defer { persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_ENABLE_FKEY, enforcesForeignKeys) }
    try execute(
      "DROP TABLE \(dialect.table(layout.table))", "replace the table of \(layout.schema.name)")
    // Otherwise SQLite would reject the new name while a view refers to the dropped table.
    persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 1)
    defer { persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 0) }
    try execute(
      "ALTER TABLE \(dialect.table(name)) RENAME TO \(dialect.identifier(layout.table))",
      "replace the table of \(layout.schema.name)")
    // Indexes and triggers of other programs disappeared with the table.
    for object in foreign {
      try execute(SQLiteDefinition.inFile(object.sql), "create “\(object.name)” again")
    }
  }

  private func copy(_ evolution: SQLiteEvolution, to name: String) throws {
    let dialect = SQLiteDialect()
    try compute(evolution) { expressions in
      var (values, expressions): ([PersistentValue], ArraySlice<String>) = ([], expressions[...])
      func parameter(_ value: PersistentValue) -> String {
        values.append(value)
        return dialect.parameter(values.count + 1)
      }
      let sources = evolution.change.sources.map { source in
        switch source {
        case .field(let origin, nil): dialect.identifier(evolution.storedColumns[origin])
        case .field(let origin, let replacement?):
          "coalesce(\(dialect.identifier(evolution.storedColumns[origin])), \(parameter(replacement)))"
        case .fill(let value): parameter(value)
        case .computed: expressions.removeFirst()
        }
      }
      let columns = evolution.target.columns.map(dialect.identifier).joined(separator: ", ")
      let statement =
        "INSERT INTO \(dialect.table(name)) (\(columns)) SELECT \(sources.joined(separator: ", ")) "
        + "FROM \(dialect.table(evolution.layout.table))"
      return (statement, values)
    }
  }

  /// Runs a statement that a closure makes from the expressions of the computed fields; its first parameter is taken.
  private func compute(
    _ evolution: SQLiteEvolution, _ make: ([String]) -> (sql: String, values: [PersistentValue])
  ) throws {
    guard let model = try model(for: evolution.change.stored) else { return }
    let dialect = SQLiteDialect()
    let computation = SQLiteComputation(evolution.change, cells: model.cells)
    let (sql, values) = make(
      computation.expressions(dialect.parameter(1), evolution.storedColumns.map(dialect.identifier)))
    try SQLiteComputation.register(on: self)
    let name = evolution.change.target.name
    let statement = SQLiteStatement(
      try prepare(sql, persistent: false, "change the records of \(name)"), on: self, model: nil, key: nil)
    // SQLite drops no table that a statement reads.
    defer { statement.finish() }
    // A statement without computed fields does not have the first parameter.
    if !evolution.change.computedPositions.isEmpty {
      try statement.bind(computation, SQLiteComputation.pointerType, at: 1)
    }
    for (position, value) in values.enumerated() {
      try statement.bind(value, at: Int32(truncatingIfNeeded: position + 2))
    }
    do { try statement.run() } catch { throw computation.failure ?? error }
  }
}
