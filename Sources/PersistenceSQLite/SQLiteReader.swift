import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// What the context, a snapshot and a transaction have in common: reading on a connection that they name.
protocol SQLiteReader: StorageReader {
  /// Lends a connection that stands in a transaction, with the catalog of what it sees.
  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result
}

extension SQLiteReader {
  /// The schemas of all models, those of tables made by others included.
  public func catalog() throws -> [ModelSchema] {
    try withReader { try $0.schemas() }
  }

  /// The schema of one model, which is made when it is first asked for.
  public func schema(named name: String) throws -> ModelSchema? {
    try withReader { try $0.schema(of: StoredName(name)) }
  }

  /// What no model of the file says: views, triggers and whatever else others declared in it.
  public func unmappedObjects() throws -> [UnmappedObject] {
    try withReader { try $0.unmappedObjects() }
  }

  func find(
    _ key: RecordKey, in schema: ModelSchema, reading body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    try key.validate(for: schema)
    return try withReader { connection in
      guard let model = try connection.model(for: schema) else { return false }
      return try connection.withStatement(model.find, of: model) { statement in
        try statement.bind(key)
        guard try statement.step() else { return false }
        try statement.withRow(model.columns, body)
        return true
      }
    }
  }

  /// How many rows a request has, counted by SQLite.
  public func count(_ request: FetchRequest) throws -> Int {
    try withReader { connection in
      guard let model = try connection.model(for: request.schema) else { return 0 }
      return try connection.count(request, of: model)
    }
  }

  /// How SQLite would answer a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withReader { connection in
      guard let model = try connection.model(for: request.schema) else {
        return QueryPlan(access: .engine("the store does not hold the model"), ordering: .byEngine)
      }
      return try connection.plan(for: request, of: model)
    }
  }

  /// The plan for whole rows: the columns that are read do not change it.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }
}

extension SQLiteConnection {
  /// How many rows a request has.
  func count(_ request: FetchRequest, of model: SQLiteModel) throws -> Int {
    if request.limit == 0 { return 0 }
    let query = try SQLQuery(request, includingAnchor: true, model: model.number)
    // Counting goes no further than the page does.
    let (end, overflow) = request.offset.addingReportingOverflow(request.limit ?? Int.max)
    let limit = request.limit == nil || overflow ? nil : end
    let statement = query.count(upTo: limit)
    let counted = try withStatement(statement.shape, of: model) { prepared in
      try prepared.bind(statement.bindings)
      return try prepared.step() ? Int(prepared.integer(0)) : 0
    }
    return max(0, counted - request.offset)
  }
}

extension SQLiteStatement {
  /// Binds the values of a key.
  func bind(_ key: RecordKey) throws {
    var index: Int32 = 1
    for value in key.values {
      try bind(value, at: index)
      index += 1
    }
  }
}
