import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// Results that one statement reads, which hold nothing of the server.
extension PostgresSource {
  /// The rows of a request, by one statement outside a transaction; nil if there may be too many, or the catalog may be
  /// stale.
  ///
  /// The server plans it for all of its rows. A cursor is planned for few of them, since nobody may want the others.
  func wholeResults(_ request: FetchRequest, selecting positions: [Int]?) throws -> PostgresResults? {
    guard !store.isForeign, let catalog = store.catalog, request.limit != 0,
      let model = try? store.table(StoredName(request.schema.name), in: catalog)?
        .model(for: request.schema, store: store),
      model.knowsRowSize, let query = try? PostgresQuery(request, of: model, store.dialect),
      query.residual == nil
    else { return nil }
    if let positions { try request.schema.requirePositions(positions) }
    let columns = query.columns(positions)
    let room = model.wholeLimit
    let statement = query.rows(columns, upTo: room + 1)
    guard model.mayFit(statement.hash) else { return nil }
    let select = try store.command(statement, of: model)
    // The version is read after the rows: if it is still the known one, it was when the rows were read.
    let version = PostgresCommand("SELECT version FROM \(store.state)", prepared: -10)
    let connection = try take()
    defer { pool.giveBack(connection) }
    let results: [PostgresResult]
    do {
      results = try connection.run([select, version], "read from \(model.schema.name)", isReading: true)
    } catch let error as PersistenceError where error.code != .timedOut && error.code != .cancelled {
      // If it recurs, the second attempt throws it.
      return nil
    }
    guard let rows = results.first, results.count == 2, results[1].count == 1,
      results[1].integer(0, 0) == catalog.version
    else { return nil }
    model.learn(rows: rows.count, bytes: rows.byteCount)
    guard rows.count <= room || rows.count == request.limit else {
      model.note(statement.hash, fits: false)
      return nil
    }
    return PostgresResults(request, query, columns, whole: rows)
  }
}
