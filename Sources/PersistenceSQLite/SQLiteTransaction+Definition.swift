import CSQLite
import PersistenceDriver
import PersistenceSQL

extension SQLiteTransaction {
  func define(_ schema: ModelSchema) throws {
    // A model that has been used in this state of the file costs a look into a table.
    let isKnown = try withReader { try $0.model(for: schema) != nil }
    if isKnown { return }
    try nested { try withReader { try $0.create(schema) } }
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
  func create(_ schema: ModelSchema) throws {
    let most = Int(sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, -1))
    guard schema.fields.count <= most else {
      throw PersistenceError.unsupported(
        "hold \(schema.fields.count) fields in one model; \(most) is the most", by: "SQLite"
      ).at(model: schema.name, location: store.location)
    }
    if catalog?.isOurs != true { try createCatalogTable() }
    var taken: Set<String> = []
    for row in try rows("SELECT name FROM sqlite_schema") {
      if case .text(let name) = row[0] { taken.insert(SQLiteNaming.folded(name)) }
    }
    let table = SQLiteNaming.free(schema.name, fallback: "model", taken: &taken)
    var takenColumns: Set<String> = []
    let columns = schema.fields.map {
      SQLiteNaming.free($0.name, fallback: "field", taken: &takenColumns)
    }
    let definition = SQLiteDefinition(schema, table: table, columns: columns)
    try execute(definition.table, "make the table of \(schema.name)")
    for index in schema.indexes {
      try execute(definition.index(index, taken: &taken), "make an index of \(schema.name)")
    }
    if let view = definition.view(taken: &taken) { try execute(view, "make the view of \(schema.name)") }
    let layout = SQLiteLayout(schema: schema, table: table, columns: columns)
    _ = try rows(
      "INSERT INTO \(SQLiteCatalog.tableName) (model, table_name, layout) VALUES (?1, ?2, ?3)",
      [.text(schema.name), .text(table), .text(try layout.encoded())])
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
    guard schema.fields.contains(where: { $0.kind == .date }) else { return nil }
    let viewName = SQLiteNaming.free("\(name)_utc", fallback: "view", taken: &taken)
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
