import PersistenceDriver
import PersistenceSQL

/// The models of a store, at one version of its catalog.
///
/// A new catalog gets a new version, and a table never gets the name of another one while a reader may still use that.
/// So a reader with an older catalog sees the older version first.
struct PostgresCatalog: Sendable {
  let version: Int64

  /// The encoded layouts of the models.
  let layouts: [StoredName: String]
}

/// A catalog that a session used is no longer the newest one: the work starts again with the newest one.
struct StaleCatalog: Error {}

extension PostgresStore {
  /// The statements that read the catalog, in a transaction that has begun.
  var catalogCommands: [PostgresCommand] {
    [
      PostgresCommand("SELECT version FROM \(own("state"))"),
      PostgresCommand("SELECT model, layout FROM \(own("catalog"))"),
    ]
  }

  /// The catalog in the results of ``catalogCommands``.
  func catalog(_ results: ArraySlice<PostgresResult>) throws -> PostgresCatalog {
    guard let state = results.first, let models = results.last, state.count == 1,
      let version = state.integer(0, 0)
    else { throw PersistenceError.damaged("the table persistence_state is empty").at(location: location) }
    var layouts: [StoredName: String] = [:]
    for row in 0..<models.count {
      guard let name = models.bytes(row, 0), let text = PostgresText.unescaped(name),
        let layout = models.text(row, 1)
      else {
        throw PersistenceError.damaged("the store's catalog has an entry without a name").at(
          location: location)
      }
      layouts[StoredName(String(decoding: text, as: UTF8.self))] = layout
    }
    return PostgresCatalog(version: version, layouts: layouts)
  }

  /// Reads the newest catalog by a connection outside any transaction, and caches it.
  func readCatalog(_ connection: PostgresConnection) throws -> PostgresCatalog {
    let begin = PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    do {
      let results = try connection.run(
        [begin] + catalogCommands + [PostgresCommand("COMMIT")], "read the catalog")
      let read = try catalog(results.dropFirst().dropLast())
      catalog = read
      return read
    } catch {
      try? connection.post([PostgresCommand("ROLLBACK")], "end a transaction")
      throw (error as? PersistenceError)?.ofMissingStore(location) ?? error
    }
  }

  /// The table of a model; nil where the catalog does not hold it.
  func table(_ name: StoredName, in catalog: PostgresCatalog) throws -> PostgresTable? {
    guard let text = catalog.layouts[name] else { return nil }
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

extension PersistenceError {
  /// The error for a store whose own tables are missing.
  func ofMissingStore(_ location: String) -> PersistenceError {
    guard isPostgres("42P01") || isPostgres("3F000") else { return self }
    var error = self
    error.code = .missingStore
    error.message =
      "the schema contains no store, or another program removed it; open it with create=true to make a new one"
    return error.at(location: location)
  }
}
