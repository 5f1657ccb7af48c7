import CSQLite
import PersistenceDriver
import PersistenceSQL

/// The objects of a foreign database beyond its tables' columns and keys.
extension SQLiteConnection {
  /// The objects that a copy by models omits, in a stable order.
  func unmappedObjects() throws -> [UnmappedObject] {
    guard let catalog else { return [] }
    var unmappedObjects: [UnmappedObject] = []
    for (name, error) in catalog.rejected.sorted(by: { $0.key < $1.key }) {
      let records = try recordCount(of: name.text)
      let kind: UnmappedObject.Kind = try isView(name.text) ? .view : .table
      unmappedObjects.append(
        UnmappedObject(kind, name.text, detail: "not copied: \(error.message)", records: records))
    }
    for table in catalog.tables.keys.sorted() {
      guard try !isView(table.text) else { continue }
      unmappedObjects += try foreignKeys(of: table.text) + constraints(of: table.text)
      unmappedObjects += try columnConstraints(of: table.text) + indexes(of: table.text)
    }
    return try unmappedObjects + views() + triggers()
  }

  /// How many records a table or view has; nil where SQLite cannot read it.
  private func recordCount(of table: String) throws -> Int? {
    do {
      let count = try rows("SELECT count(*) FROM \(SQLiteDialect().table(table))")
      guard case .integer(let records)? = count.first?.first else { return nil }
      return Int(records)
    } catch let error as PersistenceError where error.isSQLError {
      return nil
    }
  }

  private func isView(_ name: String) throws -> Bool {
    try !rows("SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ?1", [.text(name)]).isEmpty
  }

  /// The names of the tables that this package created, and of their views.
  private func ownNames() throws -> Set<String> {
    guard catalog?.hasCatalogTable == true else { return [] }
    var names: Set<String> = [SQLiteCatalog.tableName]
    for row in try rows("SELECT table_name FROM \(SQLiteCatalog.table)") {
      if case .text(let name) = row[0] { names.formUnion([name, name + "_utc"]) }
    }
    return names
  }

  private func views() throws -> [UnmappedObject] {
    let own = try ownNames()
    let included = Set(store.configuration.includedViews.map(StoredName.init))
    let list = "SELECT name, type FROM temp.pragma_table_list WHERE schema = 'main' ORDER BY name"
    return try rows(list).compactMap { row in
      guard case .text(let name) = row[0], !own.contains(name), !included.contains(StoredName(name)) else {
        return nil
      }
      switch row[1] {
      case .text("view"):
        return UnmappedObject(.view, name, detail: "a view is copied as records only if you name it")
      case .text("virtual"):
        return UnmappedObject(
          .virtualTable, name, detail: "a virtual table is copied as records only if you name it")
      default: return nil
      }
    }
  }

  private func triggers() throws -> [UnmappedObject] {
    try rows("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").compactMap {
      row in
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { return nil }
      return UnmappedObject(
        .trigger, name, model: table, detail: "a trigger on \(table); models have no triggers")
    }
  }

  private func foreignKeys(of table: String) throws -> [UnmappedObject] {
    var keys:
      [Int64: (columns: [String], target: String, targets: [String], actions: String, rule: DeleteRule)]
    keys = [:]
    for row in try rows(
      "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete FROM temp.pragma_foreign_key_list(?1, 'main') ORDER BY id, seq",
      [.text(table)])
    {
      guard case .integer(let id) = row[0], case .text(let target) = row[1], case .text(let from) = row[2],
        case .text(let onUpdate) = row[4], case .text(let onDelete) = row[5]
      else { continue }
      var actions = onDelete == "NO ACTION" ? "" : " on delete \(onDelete.lowercased())"
      if onUpdate != "NO ACTION" { actions += " on update \(onUpdate.lowercased())" }
      let rule: DeleteRule =
        switch onDelete {
        case "CASCADE": .cascade
        case "SET NULL": .setNil
        default: .restrict
        }
      keys[id, default: ([], target, [], actions, rule)].columns.append(from)
      if case .text(let to) = row[3] { keys[id]?.targets.append(to) }
    }
    return keys.sorted { $0.key < $1.key }.map { _, key in
      let targets = key.targets.isEmpty ? "its key" : key.targets.joined(separator: ", ")
      return UnmappedObject(
        .foreignKey, key.columns.joined(separator: ", "), model: table,
        detail:
          "refers to \(key.target) (\(targets))\(key.actions); the values are copied, the constraint is not",
        reference: reference(key.columns, to: key.target, key.targets, key.rule))
    }
  }

  /// The reference that a foreign key amounts to: of one column, to the key of a table that is a model.
  private func reference(_ columns: [String], to table: String, _ targets: [String], _ rule: DeleteRule)
    -> UnmappedObject.Reference?
  {
    func isSame(_ left: String, _ right: String) -> Bool {
      StoredName(SQLiteNaming.folded(left)) == StoredName(SQLiteNaming.folded(right))
    }
    let found = catalog?.tables.first { isSame($0.key.text, table) }
    guard columns.count == 1, let target = found?.value.schema, target.key.count == 1,
      targets.isEmpty || isSame(targets[0], target.key[0])
    else { return nil }
    return UnmappedObject.Reference(columns[0], to: target.name, onDelete: rule)
  }

  private func constraints(of table: String) throws -> [UnmappedObject] {
    let declaration = try declaration(of: table)
    var unmappedObjects = declaration.checks.enumerated().map { number, condition in
      UnmappedObject(
        .check, "check \(number + 1)", model: table,
        detail: "CHECK \(condition); the records satisfy it, but the constraint is not copied")
    }
    if declaration.hasWord("AUTOINCREMENT") {
      unmappedObjects.append(
        UnmappedObject(
          .autoIncrement, table, model: table, detail: "row IDs are never reused; the rule is not copied")
      )
    }
    return unmappedObjects
  }

  private func columnConstraints(of table: String) throws -> [UnmappedObject] {
    var unmappedObjects: [UnmappedObject] = []
    let findings = catalog?.tables[StoredName(table)]?.findings ?? [:]
    for column in try foreignColumns(of: table) {
      if let finding = findings[column.name] {
        unmappedObjects.append(UnmappedObject(.severalKinds, column.name, model: table, detail: finding))
      }
      if column.isGenerated {
        let becomes =
          store.configuration.surveysForeignTables ? "its values are copied" : "it does not become a field"
        unmappedObjects.append(
          UnmappedObject(
            .generatedColumn, column.name, model: table,
            detail: "it is a generated column; \(becomes), its expression is not copied"))
      }
      if let text = column.defaultValue {
        unmappedObjects.append(
          UnmappedObject(
            .defaultValue, column.name, model: table,
            detail: "DEFAULT \(text); the values are copied, the default is not"))
      }
      if let collation = try? collation(of: column.name, in: table), collation.uppercased() != "BINARY" {
        unmappedObjects.append(
          UnmappedObject(
            .collation, column.name, model: table,
            detail: "COLLATE \(collation); models compare text byte by byte"))
      }
    }
    return unmappedObjects
  }

  private func indexes(of table: String) throws -> [UnmappedObject] {
    let schema = catalog?.tables[StoredName(table)]?.schema
    var unmappedObjects: [UnmappedObject] = []
    for row in try rows(
      "SELECT name, partial, \"unique\" FROM temp.pragma_index_list(?1, 'main') WHERE origin <> 'pk' ORDER BY name",
      [.text(table)])
    {
      guard case .text(let name) = row[0] else { continue }
      let parts = try rows(
        "SELECT cid, coll, name FROM temp.pragma_index_xinfo(?1, 'main') WHERE key", [.text(name)])
      var reason: String?
      if row[1] == .integer(1) { reason = "it is a partial index" }
      for part in parts {
        if part[0] == .integer(-2) { reason = "it is on an expression" }
        if case .text(let collation) = part[1], collation.uppercased() != "BINARY" {
          reason = reason ?? "its collation is \(collation)"
        }
        if case .text(let column) = part[2], schema?.field(named: column)?.kind == .document {
          reason = reason ?? "“\(column)” holds values of several kinds"
        }
      }
      guard let reason else { continue }
      let unique = row[2] == .integer(1) ? "; uniqueness is not enforced in the copy" : ""
      unmappedObjects.append(
        UnmappedObject(.index, name, model: table, detail: "the index is not copied: \(reason)\(unique)"))
    }
    return unmappedObjects
  }
}
