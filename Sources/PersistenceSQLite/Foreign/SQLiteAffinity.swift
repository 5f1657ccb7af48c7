import PersistenceDriver

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
