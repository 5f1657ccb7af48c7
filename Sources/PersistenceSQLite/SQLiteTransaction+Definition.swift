import CSQLite
import PersistenceDriver
import PersistenceSQL

extension SQLiteTransaction {
  func define(_ schema: ModelSchema) throws { try define(schema, awaitingIndexes: false) }

  func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try define(schema, awaitingIndexes: !schema.indexes.isEmpty)
  }

  private func define(_ schema: ModelSchema, awaitingIndexes: Bool) throws {
    // A model that has been used in this state of the file costs a look into a table.
    let isKnown = try withReader { try $0.model(for: schema) != nil }
    if isKnown { return }
    try nested { try withReader { try $0.create(schema, awaitingIndexes: awaitingIndexes) } }
  }

  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    guard let layout = try ownLayout(of: schema), layout.awaitsIndexes == true else { return true }
    try nested {
      do {
        try withReader { try $0.buildIndexes(layout) }
      } catch let error as PersistenceError where Self.isRefusal(error) {
        throw try firstDuplicate(in: layout.schema) ?? error
      }
    }
    return true
  }

  func drop(_ schema: ModelSchema) throws {
    guard let layout = try ownLayout(of: schema) else { return }
    try nested { try withReader { try $0.drop(layout) } }
  }

  /// The layout of a model that this package defined; nil where the file does not hold the model.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where another program made its table.
  private func ownLayout(of schema: ModelSchema) throws -> SQLiteLayout? {
    try withReader { connection in
      guard try connection.model(for: schema) != nil else { return nil }
      guard let text = connection.catalog?.layouts[StoredName(schema.name)] else {
        throw PersistenceError(
          .unsupported,
          "the table of \(schema.name) was made by another program, which can remove or change it",
          model: schema.name, location: connection.store.location)
      }
      return try SQLiteLayout(text)
    }
  }

  /// What to say where two records have the same values in a unique index that is being built.
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
  /// Makes the table of ours that holds the models.
  func createCatalogTable() throws {
    try execute(
      "CREATE TABLE \(SQLiteCatalog.tableName) (model TEXT PRIMARY KEY NOT NULL, table_name TEXT NOT NULL UNIQUE, "
        + "layout TEXT NOT NULL)", "make the catalog")
  }

  /// Makes the table, the indexes and the view of a model that the file does not hold, and enters it into the
  /// catalog.
  func create(_ schema: ModelSchema, awaitingIndexes: Bool) throws {
    let most = Int(sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, -1))
    guard schema.fields.count <= most else {
      throw PersistenceError.unsupported(
        "hold \(schema.fields.count) fields in one model; \(most) is the most", by: "SQLite"
      ).at(model: schema.name, location: store.location)
    }
    if catalog?.isOurs != true { try createCatalogTable() }
    var taken = try takenNames()
    let table = SQLiteNaming.free(schema.name, fallback: "model", taken: &taken)
    var takenColumns: Set<String> = []
    let columns = schema.fields.map {
      SQLiteNaming.free($0.name, fallback: "field", taken: &takenColumns)
    }
    let definition = SQLiteDefinition(schema, table: table, columns: columns)
    try execute(definition.table, "make the table of \(schema.name)")
    if !awaitingIndexes { try makeIndexes(schema, definition, taken: &taken) }
    if let view = definition.view(taken: &taken) { try execute(view, "make the view of \(schema.name)") }
    let layout = SQLiteLayout(
      schema: schema, table: table, columns: columns, awaitsIndexes: awaitingIndexes)
    _ = try rows(
      "INSERT INTO \(SQLiteCatalog.tableName) (model, table_name, layout) VALUES (?1, ?2, ?3)",
      [.text(schema.name), .text(table), .text(try layout.encoded())])
    forgetCatalog()
    try refreshCatalog()
  }

  private func takenNames() throws -> Set<String> {
    var taken: Set<String> = []
    for row in try rows("SELECT name FROM sqlite_schema") {
      if case .text(let name) = row[0] { taken.insert(SQLiteNaming.folded(name)) }
    }
    return taken
  }

  private func makeIndexes(
    _ schema: ModelSchema, _ definition: SQLiteDefinition, taken: inout Set<String>
  ) throws {
    for index in schema.indexes {
      try execute(definition.index(index, taken: &taken), "make an index of \(schema.name)")
    }
  }

  /// Makes the indexes that were left out when the table was made.
  func buildIndexes(_ layout: SQLiteLayout) throws {
    var taken = try takenNames()
    let definition = SQLiteDefinition(layout.schema, table: layout.table, columns: layout.columns)
    try makeIndexes(layout.schema, definition, taken: &taken)
    var complete = layout
    complete.awaitsIndexes = nil
    _ = try rows(
      "UPDATE \(SQLiteCatalog.tableName) SET layout = ?1 WHERE model = ?2",
      [.text(try complete.encoded()), .text(layout.schema.name)])
    forgetCatalog()
    try refreshCatalog()
  }

  /// Removes the table of a model with its indexes, its view and its entry in the catalog.
  func drop(_ layout: SQLiteLayout) throws {
    let definition = SQLiteDefinition(layout.schema, table: layout.table, columns: layout.columns)
    // A view is known by what it says: another may have its name.
    for row in try rows("SELECT name, sql FROM sqlite_schema WHERE type = 'view'") {
      guard case .text(let name) = row[0], case .text(let text) = row[1], text == definition.view(named: name)
      else { continue }
      try execute("DROP VIEW \(SQLiteDialect().identifier(name))", "remove the view of \(layout.schema.name)")
    }
    try execute(
      "DROP TABLE \(SQLiteDialect().identifier(layout.table))", "remove the table of \(layout.schema.name)")
    _ = try rows(
      "DELETE FROM \(SQLiteCatalog.tableName) WHERE model = ?1", [.text(layout.schema.name)])
    forgetCatalog()
    try refreshCatalog()
  }
}

/// The statements that make a model's table.
struct SQLiteDefinition {
  private let schema: ModelSchema
  private let name: String
  private let columns: [String]
  private let dialect = SQLiteDialect()

  init(_ schema: ModelSchema, table: String, columns: [String]) {
    self.schema = schema
    name = table
    self.columns = columns
  }

  /// Whether the key is the row's number, which needs no index of its own.
  private var keyIsRowNumber: Bool {
    schema.keyPositions.count == 1 && schema.fields[schema.keyPositions[0]].kind == .int64
  }

  private func list(_ positions: [Int]) -> String {
    positions.map { dialect.identifier(columns[$0]) }.joined(separator: ", ")
  }

  var table: String {
    var parts = schema.fields.enumerated().map { position, field in
      var text = "\(dialect.identifier(columns[position])) \(field.kind.sqliteType)"
      if keyIsRowNumber, schema.keyPositions[0] == position { text += " PRIMARY KEY" }
      if !field.isOptional { text += " NOT NULL" }
      return text
    }
    if !keyIsRowNumber { parts.append("PRIMARY KEY (\(list(schema.keyPositions)))") }
    return "CREATE TABLE \(dialect.identifier(name)) (\(parts.joined(separator: ", ")))"
  }

  /// An index; one that is not unique goes on with the key, so that it yields the total order (contract O2).
  func index(_ index: IndexSchema, taken: inout Set<String>) -> String {
    var positions = index.fields.compactMap { schema.position(of: $0) }
    let wanted = ([name] + positions.map { columns[$0] }).joined(separator: "_") + "_index"
    let indexName = SQLiteNaming.free(wanted, fallback: "index", taken: &taken)
    if !index.isUnique, !keyIsRowNumber {
      positions += schema.keyPositions.filter { !positions.contains($0) }
    }
    return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(dialect.identifier(indexName)) "
      + "ON \(dialect.identifier(name)) (\(list(positions)))"
  }

  /// A view with dates that people can read, in UTC; nil where the model has none.
  func view(taken: inout Set<String>) -> String? {
    guard hasView else { return nil }
    return view(named: SQLiteNaming.free("\(name)_utc", fallback: "view", taken: &taken))
  }

  private var hasView: Bool { schema.fields.contains { $0.kind == .date } }

  /// The statement that makes the view under a name; nil where the model has none.
  func view(named viewName: String) -> String? {
    guard hasView else { return nil }
    let parts = zip(columns, schema.fields).map { column, field in
      let column = dialect.identifier(column)
      guard field.kind == .date else { return column }
      // 978307200 is 2001-01-01 in Unix time; NaN is a blob, and what no calendar reaches stays a number.
      return "CASE WHEN typeof(\(column)) IN ('real', 'integer') THEN "
        + "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', \(column) + 978307200, 'unixepoch'), \(column)) "
        + "ELSE \(column) END AS \(column)"
    }
    return "CREATE VIEW \(dialect.identifier(viewName)) AS SELECT \(parts.joined(separator: ", ")) "
      + "FROM \(dialect.identifier(name))"
  }
}
