import PersistenceDriver
import PersistenceSQL

/// The statements that create a model's table, indexes and view.
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

  init(_ layout: SQLiteLayout) { self.init(layout.schema, table: layout.table, columns: layout.columns) }

  /// Whether the key is the row ID, which needs no index of its own.
  private var keyIsRowID: Bool { schema.singleIntegerKey != nil }

  private func list(_ positions: [Int]) -> String {
    positions.map { dialect.identifier(columns[$0]) }.joined(separator: ", ")
  }

  /// The columns that are declared NOT NULL; any other required field can become optional without new records.
  ///
  /// SQLite needs no sort for an order by a unique field and the key only if the field is declared NOT NULL.
  private var notNull: Set<Int> {
    let unique = keyIsRowID ? [] : schema.indexes.filter(\.isUnique).flatMap(\.fields)
    let positions = unique.compactMap { schema.position(of: $0) }.filter { !schema.fields[$0].isOptional }
    return Set(schema.keyPositions + positions)
  }

  /// The statement for the table, which keeps its rows in the order of the key if it is clustered.
  func table(isClustered: Bool) -> String {
    let notNull = notNull
    var parts = schema.fields.enumerated().map { position, field in
      var text = "\(dialect.identifier(columns[position])) \(field.kind.sqliteType)"
      if schema.singleIntegerKey == position { text += " PRIMARY KEY" }
      if notNull.contains(position) { text += " NOT NULL" }
      return text
    }
    if !keyIsRowID { parts.append("PRIMARY KEY (\(list(schema.keyPositions)))") }
    return "CREATE TABLE \(dialect.identifier(name)) (\(parts.joined(separator: ", ")))"
      + (isClustered ? " WITHOUT ROWID" : "")
  }

  /// The statement for an index; a non-unique index ends with the key's columns, to yield the total order (contract O2).
  func index(_ index: IndexSchema, taken: inout Set<String>) -> String {
    let fields = index.fields.compactMap { schema.position(of: $0).map { columns[$0] } }
    let wanted = ([name] + fields).joined(separator: "_") + "_index"
    return self.index(index, named: SQLiteNaming.free(wanted, fallback: "index", taken: &taken))
  }

  /// The statement for an index under a name.
  func index(_ index: IndexSchema, named indexName: String) -> String {
    var positions = index.fields.compactMap { schema.position(of: $0) }
    if !index.isUnique, !keyIsRowID {
      positions += schema.keyPositions.filter { !positions.contains($0) }
    }
    return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(dialect.identifier(indexName)) "
      + "ON \(dialect.identifier(name)) (\(list(positions)))"
  }

  /// A statement that creates an index or a trigger, as the file keeps it, for a table of the file.
  ///
  /// SQLite keeps it without a schema. Run so, a temporary table of that name would get the index or the trigger.
  static func inFile(_ statement: String) -> String {
    for start in ["CREATE UNIQUE INDEX ", "CREATE INDEX ", "CREATE TRIGGER "]
    where statement.hasPrefix(start) {
      return "\(start)main.\(statement.dropFirst(start.count))"
    }
    return statement
  }

  /// Whether a statement in the file, compared by its bytes, creates an index of the model.
  func makes(_ index: IndexSchema, named name: String, by sql: String) -> Bool {
    StoredName(sql) == StoredName(self.index(index, named: name))
  }

  /// The statement for a view with readable dates, in UTC; nil if the model has no dates.
  func view(taken: inout Set<String>) -> String? {
    guard hasView else { return nil }
    return view(named: SQLiteNaming.free("\(name)_utc", fallback: "view", taken: &taken))
  }

  private var hasView: Bool { schema.fields.contains { $0.kind == .date } }

  /// The statement for the view under a name; nil if the model has no dates.
  func view(named viewName: String) -> String? {
    guard hasView else { return nil }
    let parts = zip(columns, schema.fields).map { column, field in
      let column = dialect.identifier(column)
      guard field.kind == .date else { return column }
      // 978307200 is 2001-01-01 in Unix time. NaN stays a blob; dates that strftime cannot format stay numbers.
      return "CASE WHEN typeof(\(column)) IN ('real', 'integer') THEN "
        + "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', \(column) + 978307200, 'unixepoch'), \(column)) "
        + "ELSE \(column) END AS \(column)"
    }
    return "CREATE VIEW \(dialect.identifier(viewName)) AS SELECT \(parts.joined(separator: ", ")) "
      + "FROM \(dialect.identifier(name))"
  }
}
