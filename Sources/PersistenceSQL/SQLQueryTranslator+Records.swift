/// Statements over one record. Those that write it have a parameter for each field, in the order of the fields.
extension SQLQueryTranslator {
  mutating func byKey() -> String {
    let parts = table.key.map { position in
      "\(dialect.compared(table.columns[position])) = \(parameter())"
    }
    return " WHERE " + parts.joined(separator: " AND ")
  }

  func insert() -> String {
    let values = table.columns.indices.map { dialect.parameter($0 + 1) }
    return "INSERT \(aborting)INTO \(name) (\(places(table.columns.indices))) "
      + "VALUES (\(values.joined(separator: ", ")))"
  }

  func save() -> String {
    let changes = others.map { "\(place($0)) = excluded.\(place($0))" }
    return insert() + " ON CONFLICT (\(places(table.key))) DO "
      + (changes.isEmpty ? "NOTHING" : "UPDATE SET " + changes.joined(separator: ", "))
  }

  func update() -> String {
    // A record that is nothing but its key is left as it is, and counted.
    let changed = others.isEmpty ? table.key : others
    let changes = changed.map { "\(place($0)) = \(dialect.parameter($0 + 1))" }
    let key = table.key.map { "\(dialect.compared(table.columns[$0])) = \(dialect.parameter($0 + 1))" }
    return "UPDATE \(aborting)\(name) SET \(changes.joined(separator: ", ")) "
      + "WHERE \(key.joined(separator: " AND "))"
  }

  mutating func holder(ofIndex index: Int) -> String {
    let values = table.indexes[index].map { position in
      "\(column(position)) = \(parameter())"
    }
    return "SELECT \(list(table.key)) FROM \(name) WHERE \(values.joined(separator: " AND ")) LIMIT 1"
  }

  func places(_ positions: some Sequence<Int>) -> String {
    positions.map(place).joined(separator: ", ")
  }

  private var others: [Int] { table.columns.indices.filter { !table.key.contains($0) } }
}
