import PersistenceDriver

// What an engine without a better way calls, visibly, to meet a requirement of `StorageTransaction`.
extension StorageTransaction {
  /// Refuses to drop a model: what an engine calls whose capabilities say that it drops none.
  ///
  /// - Parameter schema: The model.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported``, always.
  public func refuseDrop(of schema: ModelSchema) throws {
    throw PersistenceError.unsupported("remove the model \(schema.name)", by: "the context")
  }

  /// Reads the keys, then updates each record by itself: all of them or, if one update throws, none.
  ///
  /// Engines that update records in place call it after a refusal, to learn which record was refused.
  ///
  /// - Parameter request: Which records, and what is set.
  /// - Returns: The number of records.
  /// - Throws: ``PersistenceError``.
  public func updateEach(_ request: UpdateRequest) throws -> Int {
    let schema = request.rows.schema
    var keys: [RecordKey] = []
    let results = try fetch(request.rows, selecting: schema.keyPositions)
    _ = try results.read(from: 0, limit: Int.max) { keys.append(RecordKey(try $0.values())) }
    guard !keys.isEmpty else { return 0 }
    let changed = RowBuffer(count: schema.fields.count)
    try nested {
      for key in keys {
        let isThere = try find(key, in: schema) { row in
          changed.reset()
          for position in 0..<row.count { changed.setCopy(of: row[position], at: position) }
        }
        guard isThere else { throw PersistenceError.notFound(key, in: schema) }
        for assignment in request.assignments {
          guard let position = schema.position(of: assignment.field) else { continue }
          changed.set(assignment.value, at: position)
        }
        try changed.withRow { try update($0, in: schema) }
      }
    }
    return keys.count
  }
}
