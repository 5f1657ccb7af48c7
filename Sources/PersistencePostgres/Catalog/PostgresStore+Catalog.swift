import PersistenceDriver

extension PostgresStore {
  /// The statements that read the catalog, in a transaction that has begun.
  var catalogCommands: [PostgresCommand] {
    [
      PostgresCommand("SELECT version FROM \(state)"),
      isForeign ? relations : PostgresCommand("SELECT model, layout FROM \(own("catalog"))"),
    ]
  }

  /// The catalog in the results of ``catalogCommands``.
  func catalog(_ results: ArraySlice<PostgresResult>) throws -> PostgresCatalog {
    if isForeign { return try foreignCatalog(results) }
    guard let state = results.first, let models = results.last, state.count == 1,
      let version = state.integer(0, 0)
    else { throw PersistenceError.damaged("the table persistence_state is empty").at(location: location) }
    return PostgresCatalog(version: version, layouts: try layouts(models, at: 0))
  }

  /// The models' layouts in the rows of a result, of which two columns from a place on tell the name and the layout.
  func layouts(_ models: PostgresResult, at column: Int) throws -> [StoredName: String] {
    var layouts: [StoredName: String] = [:]
    for row in 0..<models.count {
      guard let name = models.bytes(row, column), let text = PostgresText.unescaped(name),
        let layout = models.text(row, column + 1)
      else {
        throw PersistenceError.damaged("the store's catalog has an entry without a name").at(
          location: location)
      }
      layouts[StoredName(String(decoding: text, as: UTF8.self))] = layout
    }
    return layouts
  }

  /// Reads the newest catalog by a connection outside any transaction, and caches it.
  func readCatalog(_ connection: PostgresConnection) throws -> PostgresCatalog {
    do {
      let read = try catalog(connection.runReading(catalogCommands, "read the catalog"))
      catalog = read
      return read
    } catch {
      throw (error as? PersistenceError)?.ofMissingStore(location) ?? error
    }
  }

  /// The table of a model; nil where the catalog does not hold it.
  ///
  /// - Throws: ``PersistenceError`` for a table of another program that no model can represent, among others.
  func table(_ name: StoredName, in catalog: PostgresCatalog) throws -> PostgresTable? {
    guard let text = catalog.layouts[name] else {
      if let error = catalog.rejected[name] { throw error }
      return nil
    }
    if isForeign { return try foreignTable(name, text) }
    return try table(name, definedBy: text) {
      let layout: PostgresLayout
      do {
        layout = try PostgresLayout(text)
      } catch let error as PersistenceError where error.code == .unsupported {
        throw error.at(model: name.text, location: location)
      } catch {
        throw PersistenceError.damaged("the store's catalog has an entry that cannot be read (\(error))")
          .at(model: name.text, location: location)
      }
      guard layout.columns.count == layout.schema.fields.count, StoredName(layout.schema.name) == name else {
        throw PersistenceError.damaged("the store's catalog has an inconsistent entry")
          .at(model: name.text, location: location)
      }
      return PostgresTable(layout, definition: text)
    }
  }
}
