import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// Reads by one statement outside a transaction, for which the cached catalog must be the newest one.
extension PostgresSource {
  /// A model of the cached catalog, and the catalog's version; nil where a transaction has to look for the model.
  func cachedModel(for schema: ModelSchema) -> (model: PostgresModel, version: Int64)? {
    if let known = store.knownModel(for: schema) { return known }
    guard let catalog = store.catalog,
      let table = try? store.table(StoredName(schema.name), in: catalog),
      let model = try? table.model(for: schema, store: store)
    else { return nil }
    store.remember(model, of: schema, at: catalog.version)
    return (model, catalog.version)
  }

  /// The answer to a query; nil if the catalog has another version, or the query fails.
  ///
  /// - Parameters:
  ///   - query: The statement.
  ///   - version: The version of the catalog that it was made for.
  ///   - isGuarded: Whether the statement itself fails if the catalog has another version.
  ///   - action: What it does, for messages.
  /// - Returns: The rows.
  /// - Throws: ``PersistenceError`` of a time-out or a lock, which a second attempt would wait for once more.
  func answer(
    to query: PostgresCommand, at version: Int64, isGuarded: Bool = false, _ action: String
  ) throws -> PostgresResult? {
    let connection = try take()
    defer { pool.giveBack(connection) }
    do {
      if isGuarded { return try connection.run([query], action, isReading: true).first }
      // The version is read after the rows: if it is still the known one, it was when the rows were read.
      let check = store.versionQueries.version
      let commands: [PostgresCommand] =
        query.isPlannedForValues ? [.planForValues, query, .planAsUsual, check] : [query, check]
      let results = try connection.run(commands, action, isReading: true)
      guard results.count == commands.count, let state = results.last, state.count == 1,
        state.integer(0, 0) == version
      else {
        // The transaction that follows reads the catalog before it executes the statement again.
        store.catalog = nil
        return nil
      }
      return results[query.isPlannedForValues ? 1 : 0]
    } catch let error as PersistenceError
      where [.timedOut, .cancelled].contains(error.code) || error.isPostgres("55P03")
    {
      throw error
    } catch let error as PersistenceError {
      if isGuarded { store.noteFailure(error, ofGuard: version) }
      // If the error recurs, a transaction throws it.
      return nil
    }
  }

  /// The rows of a request, with selected fields or all, if one statement reads them; nil if a transaction has to.
  ///
  /// A cursor is planned for a tenth of its rows. For a filter with an index it may walk the whole key instead, since the
  /// first rows in order come sooner then. A limit tells the server how many rows are read.
  func wholeResults(_ request: FetchRequest, selecting positions: [Int]?) throws -> PostgresResults? {
    guard let (model, version) = cachedModel(for: request.schema),
      // A stale catalog may cause an error, so a transaction throws it.
      let results = try? PostgresResults(request, selecting: positions, of: model, store.dialect),
      let (statement, most) = results.wholeStatement()
    else { return nil }
    let query = try store.standaloneCommand(statement, of: model)
    guard let rows = try answer(to: query, at: version, "read from \(request.schema.name)"),
      results.begin(rows, atMost: most)
    else { return nil }
    return results
  }

  /// How many rows a request has, if one statement counts them; nil if a transaction has to.
  func countNewest(_ request: FetchRequest) throws -> Int? {
    // A transaction keeps the functions of another program's view from writing.
    guard let (model, version) = cachedModel(for: request.schema), !model.isView,
      let query = try? PostgresQuery(request, of: model, store.dialect), let statement = query.count
    else { return nil }
    let command = try store.standaloneCommand(statement, of: model)
    let action = "count the records of \(request.schema.name)"
    return try answer(to: command, at: version, action).map(query.counted)
  }
}
