import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// Writes of many records.
extension PostgresForeignTransaction {
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try key.validate(for: schema)
    guard !key.hasForeignText else { return false }
    return try change(schema) { model in
      let command = session.command(model.key(.deleteKey), of: model, .key(key, isForeign: true))
      return try guarded(command, "delete a \(schema.name)", model).changes
    } > 0
  }

  func delete(_ request: FetchRequest) throws -> Int {
    try change(request.schema) { model in
      guard request.limit != 0 else { return 0 }
      let query = try PostgresQuery(request, of: model, session.store.dialect)
      guard query.residual == nil else {
        let keys = try keys(of: request)
        try nested { for key in keys { _ = try delete(key, in: request.schema) } }
        return keys.count
      }
      let statement = query.lowered.delete(limit: request.limit, offset: request.offset)
      return try guarded(
        session.command(statement, of: model), "delete records of \(model.schema.name)", model
      )
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

  func update(_ request: UpdateRequest) throws -> Int {
    let (rows, schema) = (request.rows, request.rows.schema)
    guard !request.assignsLongValues else { return try updateEach(request) }
    do {
      return try change(schema) { model in
        guard rows.limit != 0 else { return 0 }
        let values = try assignments(request, model)
        let query = try PostgresQuery(rows, of: model, session.store.dialect)
        guard query.residual == nil else { return try updateEach(request) }
        let statement = query.lowered.set(values, limit: rows.limit, offset: rows.offset)
        return try guarded(
          session.command(statement, of: model), "update records of \(model.schema.name)", model
        )
        .changes
      }
    } catch let error as PersistenceError where error.isRejection {
      // Updating one record at a time reveals which one is rejected.
      return try updateEach(request)
    }
  }

  private func assignments(_ request: UpdateRequest, _ model: PostgresModel) throws -> [(
    position: Int, value: PersistentValue
  )] {
    let cell = RowBuffer(count: 1)
    return try request.assignments.compactMap { assignment in
      guard let position = model.schema.position(of: assignment.field) else { return nil }
      cell.set(assignment.value, at: 0)
      try cell.withRow { row in
        do {
          try model.foreign?[position].requireStorable(row[0])
        } catch let error as PersistenceError {
          throw error.at(model: model.schema.name, location: session.store.location)
        }
      }
      return (position, assignment.value)
    }
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    try change(schema) { model in
      let command = session.command(model.key(.deleteAll), of: model, PostgresParameters(isForeign: true))
      return try guarded(command, "delete the records of \(schema.name)", model).changes
    }
  }

  /// Runs a statement that changes or deletes rows, and returns how many.
  private func change(_ schema: ModelSchema, _ body: (PostgresModel) throws -> Int) throws -> Int {
    try requireOpen()
    guard let model = try session.model(for: schema) else { return 0 }
    try requireTable(model)
    do {
      return try body(model)
    } catch let error as PersistenceError where error.isPostgres("23503") {
      throw session.brokenReference(error, model, key: nil)
    }
  }
}
