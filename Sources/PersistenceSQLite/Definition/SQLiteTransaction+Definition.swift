import CSQLite
import PersistenceDriver
import PersistenceSQL

extension SQLiteTransaction {
  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    guard let layout = try withReader({ try $0.ownLayout(of: schema) }),
      let first = layout.unbuiltIndexes.first
    else { return true }
    // One index for each transaction: a kill, or a cancellation, loses the work on one at most.
    let indexes = layout.awaitsAllIndexes ? layout.schema.indexes : [first]
    try nested { try build(indexes, of: layout) }
    return indexes.count == layout.unbuilt.count
  }

  /// Builds the indexes that a layout awaits; throws the error for the first duplicate in a unique index.
  func build(_ indexes: [IndexSchema], of layout: SQLiteLayout) throws {
    do {
      try withReader { connection in
        try connection.reportingProgress { try connection.build(indexes, of: layout) }
      }
    } catch let error as PersistenceError where Self.isConstraintViolation(error) {
      throw try firstDuplicate(in: layout.schema) ?? error
    }
  }

  func drop(_ schema: ModelSchema) throws {
    guard let layout = try withReader({ try $0.ownLayout(of: schema) }) else { return }
    try nested { try withReader { try $0.drop(layout) } }
  }

  /// The error for the first two records that have the same values in a unique index being built.
  private func firstDuplicate(in schema: ModelSchema) throws -> PersistenceError? {
    for index in schema.indexes where index.isUnique {
      let order = index.fields.map { FieldOrder($0) }
      let positions = index.fields.compactMap { schema.position(of: $0) }
      var last: [PersistentValue] = []
      var found: PersistenceError?
      let rows = try fetch(try FetchRequest(schema, order: order))
      _ = try rows.read(from: 0, limit: Int.max) { row in
        guard found == nil else { return }
        let values = try positions.map { try row.value(at: $0) }
        if values == last, !values.contains(where: \.isNull) {
          found = .uniqueViolation(values, of: index, in: schema, key: try RecordKey(of: row, in: schema))
        }
        last = values
      }
      if let found { return found }
    }
    return nil
  }
}

extension SQLiteConnection {
  func createCatalogTable() throws {
    try execute(
      "CREATE TABLE \(SQLiteCatalog.tableName) (model TEXT PRIMARY KEY NOT NULL, table_name TEXT NOT NULL UNIQUE, "
        + "layout TEXT NOT NULL)", "create the catalog")
  }

  /// Creates the table, the indexes and the view of a new model, and adds it to the catalog.
  ///
  /// ``SQLiteClustering`` decides whether the table is clustered, unless the caller does.
  func create(_ schema: ModelSchema, awaitingIndexes: Bool, isClustered: Bool? = nil) throws {
    try requireSupportedFieldCount(schema)
    if catalog?.hasCatalogTable != true { try createCatalogTable() }
    var taken = try takenNames()
    let table = SQLiteNaming.free(schema.name, fallback: "model", taken: &taken)
    var takenColumns: Set<String> = []
    let columns = schema.fields.map {
      SQLiteNaming.free($0.name, fallback: "field", taken: &takenColumns)
    }
    let definition = SQLiteDefinition(schema, table: table, columns: columns)
    let isClustered =
      isClustered ?? SQLiteClustering.suits(schema, declared: store.configuration.clusteredModels)
    try execute(definition.table(isClustered: isClustered), "create the table of \(schema.name)")
    if !awaitingIndexes { try createIndexes(schema.indexes, of: schema, definition, taken: &taken) }
    if let view = definition.view(taken: &taken) { try execute(view, "create the view of \(schema.name)") }
    var layout = SQLiteLayout(
      schema: schema, table: table, columns: columns, awaitsIndexes: awaitingIndexes)
    if isClustered { layout.format = SQLiteLayout.clusteredFormat }
    _ = try rows(
      "INSERT INTO \(SQLiteCatalog.table) (model, table_name, layout) VALUES (?1, ?2, ?3)",
      [.text(schema.name), .text(table), .text(try layout.encoded())])
    discardCatalog()
    try refreshCatalog()
  }

  func requireSupportedFieldCount(_ schema: ModelSchema) throws {
    let most = Int(sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, -1))
    guard schema.fields.count > most else { return }
    throw PersistenceError.unsupported(
      "store \(schema.fields.count) fields in one model; its limit is \(most)", by: "SQLite"
    ).at(model: schema.name, location: store.location)
  }

  func takenNames() throws -> Set<String> {
    var taken: Set<String> = []
    for row in try rows("SELECT name FROM sqlite_schema") {
      if case .text(let name) = row[0] { taken.insert(SQLiteNaming.folded(name)) }
    }
    return taken
  }

  private func createIndexes(
    _ indexes: [IndexSchema], of schema: ModelSchema, _ definition: SQLiteDefinition, taken: inout Set<String>
  ) throws {
    for index in indexes {
      let statement = SQLiteDefinition.inFile(definition.index(index, taken: &taken))
      try execute(statement, "create an index of \(schema.name)")
    }
  }

  /// Creates some of the indexes that a layout awaits, and records that they exist.
  func build(_ indexes: [IndexSchema], of layout: SQLiteLayout) throws {
    var taken = try takenNames()
    try createIndexes(indexes, of: layout.schema, SQLiteDefinition(layout), taken: &taken)
    var complete = layout
    complete.unbuilt = layout.unbuilt.filter { !indexes.contains(layout.schema.indexes[$0]) }
    _ = try rows(
      "UPDATE \(SQLiteCatalog.table) SET layout = ?1 WHERE model = ?2",
      [.text(try complete.encoded()), .text(layout.schema.name)])
    discardCatalog()
    try refreshCatalog()
  }

  /// Removes the table of a model with its indexes, its view and its entry in the catalog.
  func drop(_ layout: SQLiteLayout) throws {
    try dropView(of: layout)
    try execute(
      "DROP TABLE \(SQLiteDialect().table(layout.table))", "remove the table of \(layout.schema.name)")
    _ = try rows(
      "DELETE FROM \(SQLiteCatalog.table) WHERE model = ?1", [.text(layout.schema.name)])
    discardCatalog()
    try refreshCatalog()
  }

  /// Removes the view of a model; returns whether it existed.
  @discardableResult
  func dropView(of layout: SQLiteLayout) throws -> Bool {
    let definition = SQLiteDefinition(layout)
    var existed = false
    // Recognise the view by its text, since another view may have its name.
    for row in try rows("SELECT name, sql FROM sqlite_schema WHERE type = 'view'") {
      guard case .text(let name) = row[0], case .text(let text) = row[1],
        definition.view(named: name).map(StoredName.init) == StoredName(text)
      else { continue }
      try execute("DROP VIEW \(SQLiteDialect().inFile(name))", "remove the view of \(layout.schema.name)")
      existed = true
    }
    return existed
  }
}
