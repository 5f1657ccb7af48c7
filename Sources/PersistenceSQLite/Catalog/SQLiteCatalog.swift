import CSQLite
import Logging
import PersistenceDriver
import PersistenceSQL

/// The models of a file, at one version of its schema.
///
/// The package records the models that it defines in a table of its own. Any other table is a *foreign* table, whose
/// model follows from its definition.
struct SQLiteCatalog: Sendable {
  /// The table that records the package's own models: their names, and their layouts as JSON.
  static let tableName = "persistence_catalog"
  /// That table in a statement.
  static let table = "main." + tableName

  /// The application ID in the header of files that the package creates: `PRST`.
  static let applicationID: Int32 = 0x5052_5354

  /// SQLite's schema version, which each change of the schema increments.
  let version: Int64

  let hasCatalogTable: Bool

  /// The encoded layouts of the package's own models.
  let layouts: [StoredName: String]

  /// The name of the row ID in the table of each of these models; empty where columns may hide all its names.
  let rowIDs: [StoredName: String]

  let tables: [StoredName: SQLiteTable]

  /// The foreign tables that no model can represent, and why.
  let rejected: [StoredName: PersistenceError]

  /// Whether the file has triggers, so that writing a record may change others.
  let hasTriggers: Bool

  /// Whether it has a model, which may be a table of another program.
  func names(_ model: StoredName) -> Bool { layouts[model] != nil || tables[model] != nil }
}

extension SQLiteConnection {
  /// Updates ``catalog`` to the state of the open transaction; as the first read, it pins that state.
  func refreshCatalog() throws { try refreshCatalog(to: number(.schemaVersion)) }

  /// The same where the version of the schema in that state is known.
  func refreshCatalog(to version: Int64) throws {
    if let catalog, catalog.version == version { return }
    discardCatalog()
    catalog = try readCatalog(version)
  }

  /// Discards the catalog, which a rolled back transaction may have changed.
  func discardCatalog() {
    catalog = nil
    discardModels()
  }

  /// The models' schemas, in the order of their names, without foreign tables that no model can represent.
  func schemas() throws -> [ModelSchema] {
    guard let catalog else { return [] }
    let names = Set(catalog.layouts.keys).union(catalog.tables.keys)
    return try names.sorted().compactMap { try table($0)?.schema }
  }

  /// The schema of one model, as in ``schemas()``.
  func schema(of name: StoredName) throws -> ModelSchema? {
    guard let catalog, catalog.names(name) else { return nil }
    return try table(name)?.schema
  }

  /// Whether the newest state is known to lack a model, outside of a transaction.
  func lacks(_ name: StoredName) throws -> Bool {
    guard let catalog, !catalog.names(name) else { return false }
    return try hasCurrentCatalog()
  }

  /// Whether the catalog that this connection read last is known to be that of the newest state.
  ///
  /// Outside of a transaction, the state is that of a statement which runs, if one does.
  func hasCurrentCatalog() throws -> Bool {
    guard let catalog else { return false }
    return try number(.schemaVersion) == catalog.version
  }

  /// The table of a model; nil where the file does not hold it.
  func table(_ name: StoredName) throws -> SQLiteTable? {
    if let layout = catalog?.layouts[name] {
      // Another program may have added a column that hides a name of the row ID.
      let rowID = catalog?.rowIDs[name] ?? ""
      let definition = "\(rowID) \(layout)"
      return try store.table(name, definedBy: definition) {
        try ownTable(name.text, layout, rowID: rowID, definition: definition)
      }
    }
    if let table = catalog?.tables[name] { return table }
    if let error = catalog?.rejected[name] { throw error }
    return nil
  }

  private func readCatalog(_ version: Int64) throws -> SQLiteCatalog {
    let (names, hasTriggers) = try readSchema()
    var foreign = Set(names.keys)
    foreign.formUnion(store.configuration.includedViews.map(StoredName.init))
    let hasCatalogTable = foreign.remove(StoredName(SQLiteCatalog.tableName)) != nil
    var layouts: [StoredName: String] = [:]
    var rowIDs: [StoredName: String] = [:]
    if hasCatalogTable {
      for row in try rows("SELECT model, table_name, layout FROM \(SQLiteCatalog.table)") {
        guard case .text(let model) = row[0], case .text(let table) = row[1], case .text(let layout) = row[2]
        else { continue }
        foreign.remove(StoredName(table))
        layouts[StoredName(model)] = layout
        rowIDs[StoredName(model)] = names[StoredName(table)]
      }
    }
    foreign.subtract(layouts.keys)
    var (tables, rejected): ([StoredName: SQLiteTable], [StoredName: PersistenceError]) = ([:], [:])
    if !foreign.isEmpty { try readForeign(foreign, &tables, &rejected) }
    return SQLiteCatalog(
      version: version, hasCatalogTable: hasCatalogTable, layouts: layouts, rowIDs: rowIDs, tables: tables,
      rejected: rejected, hasTriggers: hasTriggers)
  }

  /// The tables of the file, each with a name of the row ID that its definition does not mention, and whether the file has
  /// triggers.
  ///
  /// A condition in the statement would take longer to prepare than the other rows to read.
  private func readSchema() throws -> (rowIDs: [StoredName: String], hasTriggers: Bool) {
    var (rowIDs, hasTriggers): ([StoredName: String], Bool) = ([:], false)
    try withText("SELECT type, name, sql FROM sqlite_schema", [], "read the schema") { statement in
      while try statement.step() {
        guard let type = statement.text(0) else { continue }
        if type.elementsEqual("trigger".utf8) { hasTriggers = true }
        guard type.elementsEqual("table".utf8), let name = statement.text(1) else { continue }
        let table = String(decoding: name, as: UTF8.self)
        if table.utf8.starts(with: "sqlite_".utf8) { continue }
        rowIDs[StoredName(table)] = statement.text(2).map(SQLiteNaming.rowID(unmentionedIn:)) ?? ""
      }
    }
    return (rowIDs, hasTriggers)
  }

  private func readForeign(
    _ names: Set<StoredName>, _ tables: inout [StoredName: SQLiteTable],
    _ rejected: inout [StoredName: PersistenceError]
  ) throws {
    let included = Set(store.configuration.includedViews.map(StoredName.init))
    for row in try rows("SELECT name, wr, type FROM temp.pragma_table_list WHERE schema = 'main'") {
      guard case .text(let name) = row[0], names.contains(StoredName(name)),
        row[2] == .text("table") || included.contains(StoredName(name))
      else { continue }
      do {
        tables[StoredName(name)] = try foreignTable(
          name, hasRowIDs: row[1] == .integer(0) && row[2] != .text("view"),
          isView: row[2] == .text("view"))
      } catch let error as PersistenceError where error.code == .unsupported {
        rejected[StoredName(name)] = error
        guard store.isFirstNotice(error.message) else { continue }
        store.configuration.monitoring.logger.notice(
          "no model can represent a table", metadata: ["table": "\(name)", "reason": "\(error.message)"])
      }
    }
  }

  private func ownTable(_ model: String, _ text: String, rowID: String, definition: String) throws
    -> SQLiteTable
  {
    let layout: SQLiteLayout
    do {
      layout = try SQLiteLayout.read(text)
    } catch let error as PersistenceError where error.code == .unsupported {
      throw error.at(model: model, location: store.location)
    } catch {
      throw PersistenceError.damaged("the store's catalog has an entry that cannot be read (\(error))")
        .at(model: model, location: store.location)
    }
    guard layout.columns.count == layout.schema.fields.count,
      layout.schema.name.utf8.elementsEqual(model.utf8)
    else {
      throw PersistenceError.damaged("the store's catalog has an inconsistent entry")
        .at(model: model, location: store.location)
    }
    let columns = zip(layout.columns, layout.schema.fields).map { column, field in
      SQLColumn(column, field.kind, isOptional: field.isOptional)
    }
    // The file tells the truth, also about a table that another program has made anew.
    let hasRowIDs = try !SQLiteClustering.isPossible(for: layout.schema) || self.hasRowIDs(layout.table)
    return SQLiteTable(
      schema: layout.schema, name: layout.table, columns: columns,
      rowID: hasRowIDs && !rowID.isEmpty ? rowID : nil, definition: definition)
  }
}
