import CSQLite
import Logging
import PersistenceDriver
import PersistenceSQL

/// The models of a file, as they were at one version of its schema.
///
/// The models that this package defined stand in a table of ours; every other table is looked at as it is.
struct SQLiteCatalog: Sendable {
  /// The table that holds the models of ours: their names, and their layouts as JSON.
  static let tableName = "persistence_catalog"

  /// The number that marks a file of ours in its header: `PRST`.
  static let applicationID: Int32 = 0x5052_5354

  /// SQLite's own counter of changes of the schema.
  let version: Int64

  /// Whether the file has a catalog of ours.
  let isOurs: Bool

  /// The layouts of the models of ours, as they stand in the catalog.
  let layouts: [StoredName: String]

  /// The tables of others.
  let tables: [StoredName: SQLiteTable]

  /// The tables of others that cannot be used, and why.
  let refused: [StoredName: PersistenceError]

  /// Whether writing a record may do something else, by triggers.
  let writesByItself: Bool
}

extension SQLiteConnection {
  /// Brings ``catalog`` up to the state that the transaction under way sees; as its first read it pins it.
  func refreshCatalog() throws {
    let version = try number(.schemaVersion)
    if let catalog, catalog.version == version { return }
    forgetCatalog()
    catalog = try readCatalog(version)
  }

  /// Forgets the catalog, which may be that of a transaction that was undone.
  func forgetCatalog() {
    catalog = nil
    forgetModels()
  }

  /// A declaration fitted to its table; nil where the file does not hold the model.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` where it holds it under
  ///   another schema, ``PersistenceError/Code/unsupported`` where its table fits no model.
  func model(for schema: ModelSchema) throws -> SQLiteModel? {
    if let known = knownModel(for: schema) { return known }
    guard let table = try table(StoredName(schema.name)) else { return nil }
    let model = try table.model(for: schema, store: store)
    if models.count >= Self.modelLimit { forgetModels() }
    models.append((schema, model))
    lastModel = (schema, model)
    return model
  }

  /// The same, where the declaration has been used under the catalog as it is.
  func knownModel(for schema: ModelSchema) -> SQLiteModel? {
    let identity = schema.identity
    if let lastModel, lastModel.declared.identity == identity { return lastModel.model }
    guard let known = models.first(where: { $0.declared.identity == identity }) else { return nil }
    lastModel = known
    return known.model
  }

  /// The models' schemas, in the order of their names; tables of others that fit no model are left out.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where an entry of ours cannot be
  ///   read.
  func schemas() throws -> [ModelSchema] {
    guard let catalog else { return [] }
    let names = Set(catalog.layouts.keys).union(catalog.tables.keys)
    return try names.sorted().compactMap { try table($0)?.schema }
  }

  /// The schema of one model, as ``schemas()`` has it.
  func schema(of name: StoredName) throws -> ModelSchema? {
    guard let catalog, catalog.layouts[name] != nil || catalog.tables[name] != nil else { return nil }
    return try table(name)?.schema
  }

  /// The table of a model; nil where the file does not hold it.
  private func table(_ name: StoredName) throws -> SQLiteTable? {
    if let layout = catalog?.layouts[name] {
      return try store.table(name, definedBy: layout) { try ownTable(name.text, layout) }
    }
    if let table = catalog?.tables[name] { return table }
    if let error = catalog?.refused[name] { throw error }
    return nil
  }

  private func readCatalog(_ version: Int64) throws -> SQLiteCatalog {
    var others: Set<StoredName> = []
    for row in try rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
      guard case .text(let name) = row[0], !name.utf8.starts(with: "sqlite_".utf8) else { continue }
      others.insert(StoredName(name))
    }
    others.formUnion(store.configuration.includedViews.map(StoredName.init))
    let isOurs = others.remove(StoredName(SQLiteCatalog.tableName)) != nil
    var layouts: [StoredName: String] = [:]
    if isOurs {
      for row in try rows("SELECT model, table_name, layout FROM \(SQLiteCatalog.tableName)") {
        guard case .text(let model) = row[0], case .text(let table) = row[1], case .text(let layout) = row[2]
        else { continue }
        others.remove(StoredName(table))
        layouts[StoredName(model)] = layout
      }
    }
    others.subtract(layouts.keys)
    var (tables, refused): ([StoredName: SQLiteTable], [StoredName: PersistenceError]) = ([:], [:])
    if !others.isEmpty { try readForeign(others, &tables, &refused) }
    return SQLiteCatalog(
      version: version, isOurs: isOurs, layouts: layouts, tables: tables, refused: refused,
      writesByItself: try !rows("SELECT 1 FROM sqlite_schema WHERE type = 'trigger' LIMIT 1").isEmpty)
  }

  private func readForeign(
    _ names: Set<StoredName>, _ tables: inout [StoredName: SQLiteTable],
    _ refused: inout [StoredName: PersistenceError]
  ) throws {
    let included = Set(store.configuration.includedViews.map(StoredName.init))
    for row in try rows("SELECT name, wr, type FROM pragma_table_list WHERE schema = 'main'") {
      guard case .text(let name) = row[0], names.contains(StoredName(name)),
        row[2] == .text("table") || included.contains(StoredName(name))
      else { continue }
      do {
        tables[StoredName(name)] = try foreignTable(
          name, hasRowNumbers: row[1] == .integer(0) && row[2] != .text("view"),
          isView: row[2] == .text("view"))
      } catch let error as PersistenceError where error.code == .unsupported {
        refused[StoredName(name)] = error
        guard store.isNews(error.message) else { continue }
        store.configuration.monitoring.logger.notice(
          "a table fits no model", metadata: ["table": "\(name)", "reason": "\(error.message)"])
      }
    }
  }

  private func ownTable(_ model: String, _ text: String) throws -> SQLiteTable {
    let layout: SQLiteLayout
    do {
      layout = try SQLiteLayout(text)
    } catch let error as PersistenceError where error.code == .unsupported {
      throw error.at(model: model, location: store.location)
    } catch {
      throw PersistenceError.damaged("the store's catalog has an entry that cannot be read (\(error))")
        .at(model: model, location: store.location)
    }
    guard layout.columns.count == layout.schema.fields.count,
      layout.schema.name.utf8.elementsEqual(model.utf8)
    else {
      throw PersistenceError.damaged("the store's catalog has an entry that contradicts itself")
        .at(model: model, location: store.location)
    }
    let columns = zip(layout.columns, layout.schema.fields).map { column, field in
      SQLColumn(column, field.kind, isOptional: field.isOptional)
    }
    return SQLiteTable(
      schema: layout.schema, name: layout.table, columns: columns,
      rowNumber: SQLiteNaming.rowNumber(besides: layout.columns), definition: text)
  }
}
