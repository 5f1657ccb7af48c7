import CSQLite
import Foundation
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

  /// The tables that hold models.
  let tables: [StoredName: SQLiteTable]

  /// The tables that cannot be used, and why.
  let refused: [StoredName: PersistenceError]

  /// The models' schemas, in the order of their names.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where an entry of ours cannot be
  ///   read. Tables of others that fit no model are left out.
  func schemas() throws -> [ModelSchema] {
    if let error = refused.values.first(where: { $0.code == .damaged }) { throw error }
    return tables.sorted { $0.key < $1.key }.map(\.value.schema)
  }

  /// The table of a model; nil where the file does not hold it.
  func table(_ name: StoredName) throws -> SQLiteTable? {
    if let table = tables[name] { return table }
    if let error = refused[name] { throw error }
    return nil
  }
}

/// How a model that this package defined lies in the file.
struct SQLiteLayout: Codable {
  /// The format that this version of the package writes.
  static let currentFormat = 1

  var format = currentFormat
  var schema: ModelSchema
  /// The table's name.
  var table: String
  /// The columns' names, in the order of the schema's fields.
  var columns: [String]

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
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
    models.removeAll()
  }

  /// A declaration fitted to its table; nil where the file does not hold the model.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` where it holds it under
  ///   another schema, ``PersistenceError/Code/unsupported`` where its table fits no model.
  func model(for schema: ModelSchema) throws -> SQLiteModel? {
    if let known = models[schema.identity] { return known.model }
    guard let table = try catalog?.table(StoredName(schema.name)) else { return nil }
    let model = try table.model(for: schema, store: store)
    if models.count >= 200 { models.removeAll() }
    models[schema.identity] = (schema, model)
    return model
  }

  private func readCatalog(_ version: Int64) throws -> SQLiteCatalog {
    var tables: [StoredName: SQLiteTable] = [:]
    var refused: [StoredName: PersistenceError] = [:]
    var names: Set<String> = [SQLiteCatalog.tableName]
    let listed = try rows("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'")
    let isOurs = listed.contains { $0[0] == .text(SQLiteCatalog.tableName) }
    if isOurs {
      for row in try rows("SELECT model, layout, table_name FROM \(SQLiteCatalog.tableName)") {
        guard case .text(let model) = row[0], case .text(let layout) = row[1], case .text(let table) = row[2]
        else { continue }
        names.insert(table)
        do {
          tables[StoredName(model)] = try store.table(StoredName(model), definedBy: layout) {
            try ownTable(model, layout)
          }
        } catch let error as PersistenceError {
          refused[StoredName(model)] = error
        }
      }
    }
    for row in listed {
      guard case .text(let name) = row[0], case .text(let type) = row[1], !names.contains(name),
        !name.hasPrefix("sqlite_"), type == "table", tables[StoredName(name)] == nil,
        refused[StoredName(name)] == nil
      else { continue }
      do {
        tables[StoredName(name)] = try foreignTable(name, hasRowNumbers: row[2] == .integer(0))
      } catch let error as PersistenceError where error.code == .unsupported {
        refused[StoredName(name)] = error
        guard store.isNews(error.message) else { continue }
        store.configuration.monitoring.logger.notice(
          "a table fits no model", metadata: ["table": "\(name)", "reason": "\(error.message)"])
      }
    }
    return SQLiteCatalog(version: version, isOurs: isOurs, tables: tables, refused: refused)
  }

  private func ownTable(_ model: String, _ text: String) throws -> SQLiteTable {
    let layout: SQLiteLayout
    do {
      layout = try JSONDecoder().decode(SQLiteLayout.self, from: Data(text.utf8))
    } catch {
      throw PersistenceError.damaged("the store's catalog has an entry that cannot be read (\(error))")
        .at(model: model, location: store.location)
    }
    guard layout.format == SQLiteLayout.currentFormat else {
      throw PersistenceError(
        .unsupported,
        "\(model) was written in format \(layout.format), this version of the package reads format "
          + "\(SQLiteLayout.currentFormat): use a newer one", model: model, location: store.location)
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
