import PersistenceDriver

/// A column's type affinity, by the rules of https://sqlite.org/datatype3.html.
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

  /// The kind for a declared type; nil if the type does not determine one.
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
  /// The declared type of columns of this kind: its affinity does not convert the values, and its name documents them.
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
