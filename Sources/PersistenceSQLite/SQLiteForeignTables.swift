import CSQLite
import PersistenceDriver
import PersistenceSQL

/// Tables that somebody else made, as models: each column a field, by its declared type.
extension SQLiteConnection {
  private struct ForeignColumn {
    var name: String
    var declaredType: String
    var isNullable: Bool
    /// Its place in the primary key, from 1; 0 for none.
    var keyPlace: Int64
  }

  /// The model that a table can be used as.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where its rows have no key
  ///   that a model may have.
  func foreignTable(_ name: String, hasRowNumbers: Bool) throws -> SQLiteTable {
    let definition = try rows(
      "SELECT coalesce(group_concat(sql, char(10)), '') FROM sqlite_schema WHERE tbl_name = ?1", [.text(name)]
    )
    guard case .text(let text)? = definition.first?.first else {
      throw PersistenceError.unsupported("read the definition of the table \(name)", by: "SQLite")
    }
    return try store.table(StoredName(name), definedBy: text) {
      try makeForeignTable(name, hasRowNumbers: hasRowNumbers, definition: text)
    }
  }

  private func makeForeignTable(_ name: String, hasRowNumbers: Bool, definition: String) throws -> SQLiteTable
  {
    var columns: [ForeignColumn] = []
    for row in try rows(
      "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1) WHERE hidden = 0", [.text(name)])
    {
      guard case .text(let column) = row[0], case .text(let type) = row[1],
        case .integer(let notNull) = row[2],
        case .integer(let place) = row[3]
      else { continue }
      columns.append(
        ForeignColumn(name: column, declaredType: type, isNullable: notNull == 0, keyPlace: place))
    }
    let rowNumber = hasRowNumbers ? SQLiteNaming.rowNumber(besides: columns.map(\.name)) : nil
    var fields: [FieldSchema] = []
    var sqlColumns: [SQLColumn] = []
    for column in columns {
      let affinity = SQLiteAffinity(column.declaredType)
      let kind = try affinity.kind(of: column.declaredType) ?? sampledKind(of: column.name, in: name)
      // The key's columns are never nil in a model; where another program left one so, reading says it.
      let isOptional = column.isNullable && column.keyPlace == 0
      fields.append(FieldSchema(column.name, kind, isOptional: isOptional))
      sqlColumns.append(
        SQLColumn(
          column.name, kind, isOptional: isOptional,
          comparison: try comparison(of: column.name, in: name, kind, affinity)))
    }
    var key = columns.enumerated().filter { $0.element.keyPlace > 0 }
      .sorted { $0.element.keyPlace < $1.element.keyPlace }.map(\.offset)
    if key.isEmpty || !key.allSatisfy({ fields[$0].kind.isKey }) {
      guard let rowNumber else {
        throw PersistenceError.unsupported(
          "use the table “\(name)” as a model, whose primary key is none of whole numbers, texts and UUIDs and "
            + "whose rows have no numbers", by: "the SQLite context"
        ).at(model: name, location: store.location)
      }
      // The row's number stands in as the key; the declared key's columns stay fields, nil where they may be.
      for position in key where columns[position].isNullable {
        fields[position].isOptional = true
        let column = sqlColumns[position]
        sqlColumns[position] = SQLColumn(
          column.name, column.kind, isOptional: true, comparison: column.comparison)
      }
      fields.insert(FieldSchema(rowNumber, .int64), at: 0)
      sqlColumns.insert(SQLColumn(rowNumber, .int64, isOptional: false), at: 0)
      key = [0]
    }
    let schema: ModelSchema
    do {
      schema = try ModelSchema(
        name: name, fields: fields, key: key.map { fields[$0].name },
        indexes: try foreignIndexes(of: name, fields))
    } catch let error as PersistenceError where error.code == .invalidSchema {
      throw PersistenceError.unsupported(
        "use the table “\(name)”: \(error.message)", by: "the SQLite context"
      )
      .at(model: name, location: store.location)
    }
    return SQLiteTable(
      schema: schema, name: name, columns: sqlColumns, rowNumber: rowNumber, definition: definition)
  }

  /// The kind of a column whose declared type does not say what it holds, from what it holds.
  private func sampledKind(of column: String, in table: String) throws -> FieldKind {
    let dialect = SQLiteDialect()
    let name = dialect.identifier(column)
    let found = try rows(
      "SELECT DISTINCT typeof(\(name)) FROM (SELECT \(name) FROM \(dialect.identifier(table)) LIMIT 1000) "
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
    of column: String, in table: String, _ kind: FieldKind, _ affinity: SQLiteAffinity
  ) throws -> SQLColumn.Comparison {
    guard kind.isText else { return .plain }
    if affinity != .text, affinity != .blob { return .withoutAffinity }
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(
      handle, "main", table, column, nil, &collation, nil, nil, nil)
    guard code == SQLITE_OK, let collation else { throw error(code, "read the definition of a column") }
    return String(cString: collation).uppercased() == "BINARY" ? .plain : .byBytes
  }

  private func foreignIndexes(of table: String, _ fields: [FieldSchema]) throws -> [IndexSchema] {
    var indexes: [IndexSchema] = []
    for row in try rows(
      "SELECT name, \"unique\" FROM pragma_index_list(?1) WHERE partial = 0 AND origin <> 'pk'",
      [.text(table)])
    {
      guard case .text(let name) = row[0], case .integer(let isUnique) = row[1] else { continue }
      let parts = try rows("SELECT name, coll FROM pragma_index_xinfo(?1) WHERE key", [.text(name)])
      var names: [String] = []
      for part in parts {
        // An index on an expression, or in another order than that of bytes, serves no field.
        guard case .text(let column) = part[0], part[1] == .text("BINARY"),
          let field = fields.first(where: { StoredName($0.name) == StoredName(column) }),
          field.kind.isOrdered,
          !names.contains(column)
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

/// What SQLite prefers to store in a column, by the rules of https://sqlite.org/datatype3.html.
enum SQLiteAffinity {
  case integer, text, blob, real, numeric

  init(_ declaredType: String) {
    let type = declaredType.uppercased()
    if type.contains("INT") {
      self = .integer
    } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
      self = .text
    } else if type.isEmpty || type.contains("BLOB") {
      self = .blob
    } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
      self = .real
    } else {
      self = .numeric
    }
  }

  /// The kind that a declared type says; nil where it says nothing that SQLite would keep to.
  func kind(of declaredType: String) -> FieldKind? {
    let type = declaredType.uppercased()
    let own: [FieldKind] = [.bool, .double, .string, .data, .date, .uuid, .url, .decimal, .document]
    if let kind = own.first(where: { $0.sqliteType == type }) { return kind }
    switch self {
    case .integer: return .int64
    case .text: return .string
    case .real: return .double
    case .blob: return type.isEmpty ? nil : .data
    case .numeric: return type == "BOOL" ? .bool : nil
    }
  }
}

extension FieldKind {
  /// The declared type of the columns that hold this kind: its affinity stores the values as they are, and its
  /// name says to people and programs what they mean.
  var sqliteType: String {
    switch self {
    case .bool: "BOOLEAN"
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: "INTEGER"
    case .float, .double: "REAL"
    case .string: "TEXT"
    case .data: "BLOB"
    case .date: "REAL_SECONDS_SINCE_2001"
    case .uuid: "UUID_BLOB"
    case .url: "URL_TEXT"
    case .decimal: "DECIMAL_TEXT"
    case .document: "JSON_TEXT"
    }
  }
}
