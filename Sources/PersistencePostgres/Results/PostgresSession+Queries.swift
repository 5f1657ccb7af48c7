import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

extension PostgresSession {
  /// How many rows a request has.
  func count(_ request: FetchRequest, of model: PostgresModel) throws -> Int {
    if request.limit == 0 { return 0 }
    let query = try PostgresQuery(request, of: model, store.dialect)
    if let statement = query.count {
      let action = "count the records of \(model.schema.name)"
      return try query.counted(run(command(statement, of: model), action, reads: true))
    }
    var counted = 0
    try scan(query, selecting: [], isOrdered: false) { _ in
      counted += 1
      return counted < query.mostCounted ?? Int.max
    }
    return max(0, counted - request.offset)
  }

  /// Calls a closure with the matching rows of a request, without its limit and offset where a residual remains, until the
  /// closure returns false.
  func scan(
    _ query: PostgresQuery, selecting selected: [Int]?, isOrdered: Bool,
    _ body: (borrowing Row) throws -> Bool
  ) throws {
    let columns = query.columns(selected)
    let cursor = PostgresCursor(query, columns, isOrdered: isOrdered)
    defer { cursor.discard(self) }
    let reader = PostgresRowReader(query, columns)
    var position = 0
    while true {
      let (page, isLast) = try cursor.page(at: position, query.model.pageLimit, self)
      for row in 0..<page.count {
        if row & 0x3F == 0 { try ReadInterruption.check() }
        var goesOn = true
        _ = try reader.read(page, row) { goesOn = try body($0) }
        guard goesOn else { return }
      }
      if isLast { return }
      position += page.count
    }
  }
}

/// Models and their statements.
extension PostgresSession {
  /// A declaration mapped to its table; nil where the store does not hold the model.
  ///
  /// A deferred transaction begins before it misses a model or finds another one, since no statement would tell it that
  /// another process has defined or changed the model meanwhile.
  func model(for schema: ModelSchema) throws -> PostgresModel? {
    if let lastModel, lastModel.schema.identity == schema.identity { return lastModel }
    // Its catalog is one that was committed, so its version tells which.
    if isDeferred, let known = store.knownModel(for: schema), known.version == catalog.version {
      lastModel = known.model
      return known.model
    }
    do {
      let table = try store.table(StoredName(schema.name), in: catalog)
      if table == nil, isDeferred { try sendBegin() }
      lastModel = try table?.model(for: schema, store: store)
      if isDeferred, let lastModel { store.remember(lastModel, of: schema, at: catalog.version) }
      return lastModel
    } catch {
      if isDeferred { try sendBegin() }
      throw error
    }
  }

  /// The stored schema of a model; nil where the store does not hold it.
  func schema(named name: String) throws -> ModelSchema? {
    try verify()
    guard catalog.layouts[StoredName(name)] != nil else { return nil }
    return try store.table(StoredName(name), in: catalog)?.schema
  }

  /// A statement over one record or all, which the connection prepares once.
  func command(_ key: StatementKey, of model: PostgresModel, _ parameters: PostgresParameters)
    -> PostgresCommand
  {
    let text = store.text(of: key, on: model.table)
    return PostgresCommand(text.sql, prepared: text.number, parameters)
  }

  /// A statement with conditions.
  func command(_ statement: SQLStatement, of model: PostgresModel) throws -> PostgresCommand {
    try store.command(statement, of: model)
  }
}

extension PostgresStore {
  /// A statement with conditions, which the server plans for their values.
  func command(_ statement: SQLStatement, of model: PostgresModel) throws -> PostgresCommand {
    var parameters = PostgresParameters(isForeign: model.foreign != nil)
    try parameters.add(statement.bindings)
    let key = statement.key
    let sql =
      statement.isPlannedAnew
      ? SQLQueryTranslator.text(of: key, on: model.table, dialect)
      : text(of: key, on: model.table).sql
    return PostgresCommand(sql, parameters)
  }

  /// A statement with conditions outside of transactions: the connection prepares it once, and the server plans it for its
  /// values each time.
  ///
  /// A plan for any values may take a hundred times as long. Other programs change the types of their columns, after which a
  /// prepared statement fails, so those of their tables are not prepared.
  func standaloneCommand(_ statement: SQLStatement, of model: PostgresModel) throws -> PostgresCommand {
    guard !statement.isPlannedAnew, model.foreign == nil, configuration.pooler == .session else {
      return try command(statement, of: model)
    }
    var parameters = PostgresParameters()
    try parameters.add(statement.bindings)
    guard parameters.count > 0 else { return try command(statement, of: model) }
    // The server reads binary values by the types of the preparation.
    let known = text(of: statement.key, on: model.table, typed: parameters.types)
    var prepared = PostgresCommand(known.sql, prepared: known.number, parameters)
    prepared.isPlannedForValues = true
    return prepared
  }
}
