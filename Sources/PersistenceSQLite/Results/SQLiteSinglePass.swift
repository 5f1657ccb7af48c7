package import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

extension SQLiteContext {
  /// Passes on the rows of a request with a limit, which one statement reads, of a table that this package has made.
  ///
  /// A view or a virtual table of another program may take long for each row, so a caller would not know how long it waits.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard Self.takesOneStatement(request) else { return nil }
    return try pool.withConnection { connection -> Int? in
      if let model = connection.knownModel(for: request.schema) {
        if model.table.isForeign { return nil }
        if let count = try connection.passOnAtOnce(request, of: model, body) { return count }
      }
      return try connection.withReadTransaction { try connection.passOn(request, body) }
    }
  }

  /// Whether one statement reads the rows of a request, and the thread may wait for it.
  private static func takesOneStatement(_ request: FetchRequest) -> Bool {
    request.limit ?? 0 > 0 && request.offset == 0 && request.after == nil && !request.isPlannedAnew
      && !ObserversLock.isHeld
  }
}

extension SQLiteStatement {
  /// Passes on the current row and those after it; returns their number.
  fileprivate func passOn(_ columns: SQLiteColumns, _ body: (borrowing Row) throws -> Void) throws -> Int {
    var count = 0
    repeat {
      try withRow(columns, body)
      count += 1
    } while try step()
    return count
  }
}

extension SQLiteConnection {
  /// Passes on the rows of a request in the open transaction, and prepares the statement; returns their number, nil for a
  /// table of another program.
  fileprivate func passOn(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard let model = try model(for: request.schema) else { return 0 }
    if model.table.isForeign { return nil }
    let wanted = try rows(of: request, in: model)
    return try withStatement(wanted, of: model) { try $0.step() ? $0.passOn(model.columns, body) : 0 }
  }

  /// The statement that yields the rows of a request.
  fileprivate func rows(of request: FetchRequest, in model: SQLiteModel) throws -> SQLStatement {
    let predicate = try LoweredPredicate(request.predicate, in: request.schema, SQLiteDialect())
    let order = try order(of: request, in: model)
    return SQLQuery(predicate, order: order, model: model.number).select(.rows, limit: request.limit)
  }

  /// Passes on the rows without a transaction, and returns their number; nil if the statement is not prepared, or the
  /// catalog must be read first.
  ///
  /// One statement outside of transactions shows one moment, and takes the place of the four of a transaction.
  fileprivate func passOnAtOnce(
    _ request: FetchRequest, of model: SQLiteModel, _ body: (borrowing Row) throws -> Void
  ) throws -> Int? {
    let wanted = try rows(of: request, in: model)
    guard let statement = cachedStatement(wanted) else { return nil }
    defer { statement.finish() }
    try statement.bind(wanted)
    guard let hasRow = try statement.firstStep() else { return nil }
    return try hasRow ? statement.passOn(model.columns, body) : 0
  }
}
