package import PersistenceDriver
package import PersistenceDriverSupport

extension SQLiteContext: TableLayoutReporting {
  package func rowLayout(of schema: ModelSchema) throws -> TableLayout? {
    try withReader { connection in
      guard let table = try connection.table(StoredName(schema.name))?.name else { return nil }
      let isTable = try connection.rows(
        "SELECT 1 FROM temp.pragma_table_list(?1) WHERE schema = 'main' AND type = 'table'", [.text(table)])
      if isTable.isEmpty { return nil }
      guard try connection.hasRowIDs(table) else { return .clustered }
      return try connection.hasKeyIndex(table) ? .rowID : .integerKey
    }
  }
}
