import CSQLite
import PersistenceDriver
import PersistenceSQL

/// What a file made by others has beside its tables' columns and keys.
extension SQLiteConnection {
  /// What a copy by models leaves behind, in an order that stays.
  func unmappedObjects() throws -> [UnmappedObject] {
    guard let catalog else { return [] }
    var unmappedObjects: [UnmappedObject] = []
    for (name, error) in catalog.refused.sorted(by: { $0.key < $1.key }) {
      let count = try rows("SELECT count(*) FROM \(SQLiteDialect().identifier(name.text))")
      guard case .integer(let records)? = count.first?.first else { continue }
      let kind: UnmappedObject.Kind = try isView(name.text) ? .view : .table
      unmappedObjects.append(
        UnmappedObject(kind, name.text, detail: "not copied: \(error.message)", records: Int(records)))
    }
    for table in catalog.tables.keys.sorted() {
      guard try !isView(table.text) else { continue }
      unmappedObjects += try foreignKeys(of: table.text) + rules(of: table.text)
      unmappedObjects += try columnRules(of: table.text) + indexes(of: table.text)
    }
    return try unmappedObjects + views() + triggers()
  }

  private func isView(_ name: String) throws -> Bool {
    try !rows("SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ?1", [.text(name)]).isEmpty
  }

  /// The names of the tables that this package made, and of the views that it made of them.
  private func ownNames() throws -> Set<String> {
    guard catalog?.isOurs == true else { return [] }
    var names: Set<String> = [SQLiteCatalog.tableName]
    for row in try rows("SELECT table_name FROM \(SQLiteCatalog.tableName)") {
      if case .text(let name) = row[0] { names.formUnion([name, name + "_utc"]) }
    }
    return names
  }

  private func views() throws -> [UnmappedObject] {
    let own = try ownNames()
    let included = Set(store.configuration.includedViews.map(StoredName.init))
    return try rows("SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name").compactMap
    { row in
      guard case .text(let name) = row[0], !own.contains(name), !included.contains(StoredName(name)) else {
        return nil
      }
      switch row[1] {
      case .text("view"):
        return UnmappedObject(.view, name, detail: "a view is copied as records only where it is named")
      case .text("virtual"):
        return UnmappedObject(
          .virtualTable, name, detail: "a virtual table is copied as records only where it is named")
      default: return nil
      }
    }
  }

  private func triggers() throws -> [UnmappedObject] {
    try rows("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").compactMap {
      row in
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { return nil }
      return UnmappedObject(.trigger, name, model: table, detail: "a trigger on \(table); models have none")
    }
  }

  private func foreignKeys(of table: String) throws -> [UnmappedObject] {
    var keys: [Int64: (columns: [String], target: String, targets: [String], actions: String)] = [:]
    for row in try rows(
      "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
      [.text(table)])
    {
      guard case .integer(let id) = row[0], case .text(let target) = row[1], case .text(let from) = row[2],
        case .text(let onUpdate) = row[4], case .text(let onDelete) = row[5]
      else { continue }
      var actions = onDelete == "NO ACTION" ? "" : " on delete \(onDelete.lowercased())"
      if onUpdate != "NO ACTION" { actions += " on update \(onUpdate.lowercased())" }
      keys[id, default: ([], target, [], actions)].columns.append(from)
      if case .text(let to) = row[3] { keys[id]?.targets.append(to) }
    }
    return keys.sorted { $0.key < $1.key }.map { _, key in
      let targets = key.targets.isEmpty ? "its key" : key.targets.joined(separator: ", ")
      return UnmappedObject(
        .foreignKey, key.columns.joined(separator: ", "), model: table,
        detail: "refers to \(key.target) (\(targets))\(key.actions); the values are copied, the rule is not")
    }
  }

  private func rules(of table: String) throws -> [UnmappedObject] {
    let declaration = try declaration(of: table)
    var unmappedObjects = declaration.checks.enumerated().map { number, condition in
      UnmappedObject(
        .check, "check \(number + 1)", model: table,
        detail: "CHECK \(condition); the records fulfil it, the rule is not copied"
      )
    }
    if declaration.hasWord("AUTOINCREMENT") {
      unmappedObjects.append(
        UnmappedObject(
          .autoIncrement, table, model: table, detail: "numbers are never used again; the rule is not copied")
      )
    }
    return unmappedObjects
  }

  private func columnRules(of table: String) throws -> [UnmappedObject] {
    var unmappedObjects: [UnmappedObject] = []
    let findings = catalog?.tables[StoredName(table)]?.findings ?? [:]
    for column in try foreignColumns(of: table) {
      if let finding = findings[column.name] {
        unmappedObjects.append(UnmappedObject(.severalKinds, column.name, model: table, detail: finding))
      }
      if column.isGenerated {
        let becomes = store.configuration.surveysForeignTables ? "its values are copied" : "it is no field"
        unmappedObjects.append(
          UnmappedObject(
            .generatedColumn, column.name, model: table,
            detail: "its values are computed; \(becomes), the expression is not copied"))
      }
      if let text = column.defaultValue {
        unmappedObjects.append(
          UnmappedObject(
            .defaultValue, column.name, model: table,
            detail: "DEFAULT \(text); what stands in the records is copied, the default is not"))
      }
      var collation: UnsafePointer<CChar>?
      let code = sqlite3_table_column_metadata(
        handle, "main", table, column.name, nil, &collation, nil, nil, nil)
      if code == SQLITE_OK, let collation, String(cString: collation).uppercased() != "BINARY" {
        unmappedObjects.append(
          UnmappedObject(
            .collation, column.name, model: table,
            detail: "COLLATE \(String(cString: collation)); models compare text by its bytes"))
      }
    }
    return unmappedObjects
  }

  private func indexes(of table: String) throws -> [UnmappedObject] {
    let schema = catalog?.tables[StoredName(table)]?.schema
    var unmappedObjects: [UnmappedObject] = []
    for row in try rows(
      "SELECT name, partial, \"unique\" FROM pragma_index_list(?1) WHERE origin <> 'pk' ORDER BY name",
      [.text(table)])
    {
      guard case .text(let name) = row[0] else { continue }
      let parts = try rows("SELECT cid, coll, name FROM pragma_index_xinfo(?1) WHERE key", [.text(name)])
      var reason: String?
      if row[1] == .integer(1) { reason = "it is over a part of the records" }
      for part in parts {
        if part[0] == .integer(-2) { reason = "it is over an expression" }
        if case .text(let collation) = part[1], collation.uppercased() != "BINARY" {
          reason = reason ?? "it compares by \(collation)"
        }
        if case .text(let column) = part[2], schema?.field(named: column)?.kind == .document {
          reason = reason ?? "“\(column)” holds values of several kinds"
        }
      }
      guard let reason else { continue }
      let unique = row[2] == .integer(1) ? "; it is unique, which is not kept" : ""
      unmappedObjects.append(
        UnmappedObject(.index, name, model: table, detail: "the index is not copied: \(reason)\(unique)"))
    }
    return unmappedObjects
  }
}
