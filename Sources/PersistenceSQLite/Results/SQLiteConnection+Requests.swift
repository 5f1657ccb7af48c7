import PersistenceDriver
import PersistenceSQL

extension SQLiteConnection {
  /// Finds a record by its key in the open transaction.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    guard let model = try model(for: schema) else { return false }
    return try withStatement(model.find, of: model) { statement in
      try statement.bind(key)
      guard try statement.step() else { return false }
      try statement.withRow(model.columns, body)
      return true
    }
  }

  /// How many rows a request has.
  func count(_ request: FetchRequest, of model: SQLiteModel) throws -> Int {
    let order = try order(of: request, in: model)
    return try count(
      request, SQLQuery(request, includingAnchor: true, order: order, model: model.number), of: model)
  }

  /// The same of a request that is already lowered, with its anchor.
  func count(_ request: FetchRequest, _ query: SQLQuery, of model: SQLiteModel) throws -> Int {
    if request.limit == 0 { return 0 }
    // Counting stops at the end of the page.
    let (end, overflow) = request.offset.addingReportingOverflow(request.limit ?? Int.max)
    let limit = request.limit == nil || overflow ? nil : end
    let statement = query.count(upTo: limit)
    let counted = try withStatement(statement, of: model) { try $0.step() ? Int($0.integer(0)) : 0 }
    return max(0, counted - request.offset)
  }

  /// How SQLite executes a request, according to its query plan.
  func plan(for request: FetchRequest, selecting positions: [Int]?, of model: SQLiteModel) throws -> QueryPlan
  {
    let isReused = try isKnown(request, selecting: positions, of: model)
    let query = try SQLQuery(request, includingAnchor: true, model: model.number)
    let lines = try explain(text(of: query.select(.rows, limit: 1).key, on: model.table).sql)
    let table = lines.filter { $0.hasPrefix("SCAN") || $0.hasPrefix("SEARCH") || $0.hasPrefix("MULTI-INDEX") }
    var plan = QueryPlan(
      access: try access(table, of: model), native: request.predicateWithAnchor?.shape,
      ordering: lines.contains { $0.hasPrefix("USE TEMP B-TREE") } ? .byEngine : .byAccess)
    plan.isReused = isReused
    return plan
  }

  /// Whether the store has the statement of a request's first rows, with a limit or without.
  private func isKnown(_ request: FetchRequest, selecting positions: [Int]?, of model: SQLiteModel) throws
    -> Bool
  {
    guard !request.isPlannedAnew else { return false }
    let query = try SQLQuery(request, includingAnchor: false, model: model.number)
    let items = positions.map {
      SQLiteColumns($0, and: query.order.positions, of: model.cells).items
    }
    let seeks = request.after.map { query.seeks(after: $0.values, in: model.table) }
    let first: LoweredPredicate? = seeks?.first
    return [1, nil].contains { limit in
      store.knows(query.select(.rows, items ?? [], after: first, limit: limit))
    }
  }

  private func access(_ lines: [String], of model: SQLiteModel) throws -> QueryPlan.Access {
    let own = lines.filter { !$0.contains(SQLiteDialect.listFunction) }
    guard own.count == 1, let line = own.first else { return .engine(lines.joined(separator: ", ")) }
    // A clustered table's key is no index of its own.
    if line.contains("USING INTEGER PRIMARY KEY") || line.contains("USING PRIMARY KEY") { return .primaryKey }
    if line.hasPrefix("SCAN"), !line.contains(" USING ") { return .scan }
    let indexes = try rows(
      "SELECT name, origin FROM temp.pragma_index_list(?1, 'main')", [.text(model.table.name)])
    for row in indexes {
      guard case .text(let name) = row[0], line.contains("INDEX \(name)") else { continue }
      if row[1] == .text("pk") { return .primaryKey }
      let parts = try rows("SELECT name FROM temp.pragma_index_xinfo(?1, 'main') WHERE key", [.text(name)])
      let columns = parts.compactMap { part in if case .text(let text) = part[0] { text } else { nil } }
      let fields = columns.map { column in field(of: column, in: model) }
      // The package appends the key's columns to indexes; report the fields that the index was declared with.
      let declared = model.schema.indexes.map(\.fields).filter { fields.starts(with: $0) }
      return .index(declared.max { $0.count < $1.count } ?? fields)
    }
    return .engine(line)
  }

  private func field(of column: String, in model: SQLiteModel) -> String {
    let position = model.table.columns.firstIndex { StoredName($0.name) == StoredName(column) }
    return position.map { model.schema.fields[$0].name } ?? column
  }
}
