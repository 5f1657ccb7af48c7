import PersistenceDriver

extension SQLiteConnection {
  /// The indexes of a table that a model can have.
  func foreignIndexes(of table: String, _ fields: [FieldSchema]) throws -> [IndexSchema] {
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
