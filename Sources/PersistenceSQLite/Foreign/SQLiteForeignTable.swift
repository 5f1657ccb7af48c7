import CSQLite
import PersistenceDriver
import PersistenceSQL

/// A column of a table or view that another program made.
struct SQLiteForeignColumn {
  var name: String
  var declaredType: String
  var isNullable: Bool
  /// Its position in the primary key, from 1; 0 if it is not part of the key.
  var keyOrdinal: Int64
  var isGenerated: Bool
  var defaultValue: String?
  /// The survey of its values, if the configuration asks for one.
  var survey: SQLiteSurvey?

  /// The kind for its declared type.
  var declaredKind: FieldKind? { SQLiteAffinity(declaredType).kind(of: declaredType) }
}

extension SQLiteConnection {
  /// The table with its model; throws if its rows have no key that a model can have.
  func foreignTable(_ name: String, hasRowIDs: Bool, isView: Bool = false) throws -> SQLiteTable {
    let definition = try rows(
      "SELECT coalesce(group_concat(sql, char(10)), '') FROM sqlite_schema WHERE tbl_name = ?1", [.text(name)]
    )
    guard case .text(let text)? = definition.first?.first else {
      throw PersistenceError.unsupported("read the definition of the table \(name)", by: "SQLite")
    }
    do {
      return try store.table(StoredName(name), definedBy: text) {
        try makeForeignTable(name, hasRowIDs: hasRowIDs, isView: isView, definition: text)
      }
    } catch let error as PersistenceError where error.isSQLError {
      throw error.unusableTable(name)
    }
  }

  /// Throws if SQLite cannot read columns of a table: a name is not valid UTF-8, or the definition uses what only the
  /// connections of another program have, such as a function.
  private func requireReadable(_ columns: [SQLColumn], of table: String) throws {
    let dialect = SQLiteDialect()
    let names = columns.map { dialect.identifier($0.name) }.joined(separator: ", ")
    try withText("SELECT \(names) FROM \(dialect.table(table))", [], "read the table \(table)") { _ in }
  }

  /// The columns of a table or view, without hidden columns of virtual tables.
  func foreignColumns(of table: String) throws -> [SQLiteForeignColumn] {
    var columns: [SQLiteForeignColumn] = []
    for row in try rows(
      "SELECT name, type, \"notnull\", pk, hidden, dflt_value FROM temp.pragma_table_xinfo(?1, 'main') WHERE hidden <> 1",
      [.text(table)])
    {
      guard case .text(let column) = row[0], case .text(let type) = row[1],
        case .integer(let notNull) = row[2], case .integer(let ordinal) = row[3],
        case .integer(let hidden) = row[4]
      else { continue }
      var defaultValue: String?
      if case .text(let text) = row[5] { defaultValue = text }
      columns.append(
        SQLiteForeignColumn(
          name: column, declaredType: type, isNullable: notNull == 0, keyOrdinal: ordinal,
          isGenerated: hidden > 1, defaultValue: defaultValue))
    }
    return columns
  }

  /// The names of all columns, also of generated and hidden ones, which hide a name of the row ID.
  private func columnNames(of table: String) throws -> [String] {
    try rows("SELECT name FROM temp.pragma_table_xinfo(?1, 'main')", [.text(table)]).compactMap { row in
      if case .text(let name) = row[0] { name } else { nil }
    }
  }

  /// Whether an index holds the key of a table; otherwise the key is the row ID, or there is none.
  func hasKeyIndex(_ table: String) throws -> Bool {
    try !rows("SELECT 1 FROM temp.pragma_index_list(?1, 'main') WHERE origin = 'pk'", [.text(table)]).isEmpty
  }

  private var surveys: Bool { store.configuration.surveysForeignTables }

  private func makeForeignTable(_ name: String, hasRowIDs: Bool, isView: Bool, definition: String) throws
    -> SQLiteTable
  {
    var columns = try foreignColumns(of: name).filter { surveys || !$0.isGenerated }
    if surveys {
      let found = try survey(columns.map(\.name), of: name)
      for (index, survey) in found.enumerated() { columns[index].survey = survey }
    }
    let rowID = try hasRowIDs ? SQLiteNaming.rowID(besides: columnNames(of: name)) : nil
    var fields: [FieldSchema] = []
    var sqlColumns: [SQLColumn] = []
    var key = try isView ? viewKey(columns, of: name) : declaredKey(columns)
    let keyKinds = try key.map { try kind(ofKey: columns[$0], in: name) }
    let keyIsUsable = !key.isEmpty && !keyKinds.contains(nil)
    // A key without an index is the row ID, which is never NULL.
    let keyMayBeNull = try keyIsUsable && (!hasRowIDs || hasKeyIndex(name))
    for (position, column) in columns.enumerated() {
      let keyKind = keyIsUsable ? key.firstIndex(of: position).flatMap { keyKinds[$0] } : nil
      let kind = try keyKind ?? kind(of: column, in: name)
      // A model's key is never nil; if another program stored NULL, reading the record reports it.
      let isOptional = column.isNullable && keyKind == nil
      fields.append(FieldSchema(column.name, kind, isOptional: isOptional))
      let mayBeNull = column.isNullable && (keyKind == nil || keyMayBeNull)
      let order = try comparison(of: column, in: name, kind, isView: isView)
      sqlColumns.append(
        SQLColumn(
          column.name, kind, isOptional: mayBeNull, comparison: order,
          convertsText: try !isView && order == .withoutAffinity && hasAffinity(column, in: name)))
    }
    if !keyIsUsable {
      guard let rowID else { throw noKey(name, isView: isView) }
      // The row ID replaces the key; the declared key's columns stay fields, optional if they are nullable.
      fields.insert(FieldSchema(rowID, .int64), at: 0)
      sqlColumns.insert(SQLColumn(rowID, .int64, isOptional: false), at: 0)
      key = [0]
    }
    let schema: ModelSchema
    do {
      schema = try ModelSchema(
        name: name, fields: fields, key: key.map { fields[$0].name },
        indexes: isView ? [] : try foreignIndexes(of: name, fields))
    } catch let error as PersistenceError where error.code == .invalidSchema {
      throw PersistenceError.unsupported(
        "use the table “\(name)”: \(error.message)", by: "the SQLite context"
      )
      .at(model: name, location: store.location)
    }
    try requireReadable(sqlColumns, of: name)
    return SQLiteTable(
      schema: schema, name: name, columns: sqlColumns, rowID: rowID, definition: definition,
      isForeign: true, hasConflictClauses: try declaration(of: name).hasWord("CONFLICT"),
      findings: SQLiteSurvey.findings(columns))
  }

  private func noKey(_ name: String, isView: Bool) -> PersistenceError {
    let reason =
      isView
      ? "because no column identifies its rows; copy it to a table first: CREATE TABLE … AS SELECT * FROM …"
      : "because its primary key does not consist of integers, texts and UUIDs, and its rows have no row IDs"
    return PersistenceError.unsupported(
      "use the \(isView ? "view" : "table") “\(name)” as a model, \(reason)", by: "the SQLite context"
    ).at(model: name, location: store.location)
  }

  private func declaredKey(_ columns: [SQLiteForeignColumn]) -> [Int] {
    columns.enumerated().filter { $0.element.keyOrdinal > 0 }
      .sorted { $0.element.keyOrdinal < $1.element.keyOrdinal }.map(\.offset)
  }

  /// The first column of a view whose values are unique.
  private func viewKey(_ columns: [SQLiteForeignColumn], of view: String) throws -> [Int] {
    let dialect = SQLiteDialect()
    for (position, column) in columns.enumerated() where try kind(ofKey: column, in: view) != nil {
      let name = dialect.identifier(column.name)
      let counts = try rows(
        "SELECT count(*) = count(DISTINCT \(name) COLLATE BINARY) FROM \(dialect.table(view))")
      if counts.first?.first == .integer(1) { return [position] }
    }
    return []
  }

  private func kind(ofKey column: SQLiteForeignColumn, in table: String) throws -> FieldKind? {
    if let survey = column.survey { return survey.keyKind(declared: column.declaredKind) }
    let kind = try kind(of: column, in: table)
    return kind.isKey ? kind : nil
  }

  private func kind(of column: SQLiteForeignColumn, in table: String) throws -> FieldKind {
    if let survey = column.survey { return survey.kind(declared: column.declaredKind) }
    return try column.declaredKind ?? sampledKind(of: column.name, in: table)
  }

  /// The kind of a column by its first values, for a declared type that does not determine one.
  private func sampledKind(of column: String, in table: String) throws -> FieldKind {
    let dialect = SQLiteDialect()
    let name = dialect.identifier(column)
    let found = try rows(
      "SELECT DISTINCT typeof(\(name)) FROM (SELECT \(name) FROM \(dialect.table(table)) LIMIT 1000) "
        + "WHERE \(name) IS NOT NULL")
    let types = Set(found.compactMap { row in if case .text(let type) = row[0] { type } else { nil } })
    switch types {
    case ["integer"]: return .int64
    case ["real"], ["integer", "real"]: return .double
    case ["blob"]: return .data
    default: return .string
    }
  }

  private func comparison(
    of column: SQLiteForeignColumn, in table: String, _ kind: FieldKind, isView: Bool
  ) throws -> SQLColumn.Comparison {
    if let survey = column.survey, survey.isMixed(declared: column.declaredKind) { return .asDocument }
    guard kind.isText else { return .plain }
    // The affinity and collation of a view's column depend on its expression.
    if isView { return .withoutAffinity }
    let affinity = SQLiteAffinity(column.declaredType)
    if affinity != .text, affinity != .blob { return .withoutAffinity }
    return try collation(of: column.name, in: table).uppercased() == "BINARY" ? .plain : .byBytes
  }

  /// Whether values that a column gets are converted; a column of a strict table that has any type keeps them.
  private func hasAffinity(_ column: SQLiteForeignColumn, in table: String) throws -> Bool {
    guard column.declaredType.uppercased() == "ANY" else { return true }
    return try rows(
      "SELECT 1 FROM temp.pragma_table_list WHERE schema = 'main' AND name = ?1 AND strict", [.text(table)]
    ).isEmpty
  }

  func collation(of column: String, in table: String) throws -> String {
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(handle, "main", table, column, nil, &collation, nil, nil, nil)
    guard code == SQLITE_OK, let collation else { throw error(code, "read the definition of a column") }
    return String(cString: collation)
  }
}

extension SQLiteConnection {
  /// The indexes of a foreign table that a model can have.
  func foreignIndexes(of table: String, _ fields: [FieldSchema]) throws -> [IndexSchema] {
    var indexes: [IndexSchema] = []
    for row in try rows(
      "SELECT name, \"unique\" FROM temp.pragma_index_list(?1, 'main') WHERE partial = 0 AND origin <> 'pk'",
      [.text(table)])
    {
      guard case .text(let name) = row[0], case .integer(let isUnique) = row[1] else { continue }
      let parts = try rows(
        "SELECT name, coll FROM temp.pragma_index_xinfo(?1, 'main') WHERE key", [.text(name)])
      var names: [String] = []
      for part in parts {
        // An index on an expression, or with a collation other than binary, does not yield a field's order.
        guard case .text(let column) = part[0], part[1] == .text("BINARY"),
          let field = fields.first(where: { StoredName($0.name) == StoredName(column) }),
          field.kind.isOrdered, !names.contains(column)
        else {
          names.removeAll()
          break
        }
        names.append(column)
      }
      let index = IndexSchema(names, isUnique: isUnique != 0)
      if !names.isEmpty, !indexes.contains(index) { indexes.append(index) }
    }
    return indexes
  }
}
