import PersistenceDriver

extension FieldKind {
  /// The type of a column that holds values of this kind.
  var postgresType: String {
    switch tag {
    case .null, .text: "text COLLATE \"C\""
    case .bool: "bool"
    case .integer: "int8"
    case .double, .date: "float8"
    case .bytes: "bytea"
    case .uuid: "uuid"
    case .decimal: "numeric"
    case .document: "json"
    }
  }
}
