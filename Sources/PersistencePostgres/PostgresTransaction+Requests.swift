import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

extension UpdateRequest {
  /// Whether the new values are so long that a record may exceed the limit of a row with them.
  var assignsLongValues: Bool {
    let row = RowBuffer(count: 1)
    let total = assignments.reduce(0) { total, assignment in
      row.set(assignment.value, at: 0)
      return row.withRow { total + PostgresTransaction.size(of: $0[0]) }
    }
    return total > Capabilities.postgresValueLimit / 8
  }
}

/// Writes of many records.
extension PostgresTransaction {
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try key.validate(for: schema)
    return try change(schema) { model in
      try run(model.key(.deleteKey), model, .key(key), mayCollide: false)
    } > 0
  }

  func delete(_ request: FetchRequest) throws -> Int {
    try change(request.schema) { model in
      guard request.limit != 0 else { return 0 }
      let query = try PostgresQuery(request, of: model, store.dialect)
      guard query.residual == nil else {
        let keys = try keys(of: request)
        for key in keys { _ = try delete(key, in: request.schema) }
        return keys.count
      }
      let statement = query.lowered.delete(limit: request.limit, offset: request.offset)
      session.hasWritten = true
      return try guarded(session.command(statement, of: model), "delete records of \(model.schema.name)")
        .changes
    }
  }

  private func keys(of request: FetchRequest) throws -> [RecordKey] {
    var keys: [RecordKey] = []
    _ = try fetch(request, selecting: request.schema.keyPositions).read(from: 0, limit: Int.max) {
      keys.append(RecordKey(try $0.values()))
    }
    return keys
  }

  /// Sets fields by one statement.
  ///
  /// All rows get the same values, so a duplicate in a unique index would be one in the final state too.
  func update(_ request: UpdateRequest) throws -> Int {
    let (rows, schema) = (request.rows, request.rows.schema)
    guard !request.assignsLongValues else { return try updateEach(request) }
    do {
      return try change(schema) { model in
        guard rows.limit != 0 else { return 0 }
        let query = try PostgresQuery(rows, of: model, store.dialect)
        guard query.residual == nil else { return try updateEach(request) }
        let values = request.assignments.compactMap { assignment in
          schema.position(of: assignment.field).map { (position: $0, value: assignment.value) }
        }
        let statement = query.lowered.set(values, limit: rows.limit, offset: rows.offset)
        session.hasWritten = true
        return try guarded(session.command(statement, of: model), "update records of \(model.schema.name)")
          .changes
      }
    } catch let error as PersistenceError where error.isPostgres("23505") || error.isPostgres("54000") {
      // Updating one record at a time reveals which one is rejected, or makes room for it in the indexes.
      return try updateEach(request)
    }
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    // TRUNCATE would also empty the moments of others.
    try change(schema) { try run($0.key(.deleteAll), $0, PostgresParameters(), mayCollide: false) }
  }

  /// Runs a statement that changes or deletes rows, and returns how many.
  private func change(_ schema: ModelSchema, _ body: (PostgresModel) throws -> Int) throws -> Int {
    try requireOpen()
    guard let model = try session.model(for: schema) else { return 0 }
    return try body(model)
  }
}
