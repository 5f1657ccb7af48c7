import PersistenceDriver

// Named fallbacks for requirements of `StorageTransaction`, which an engine without a native implementation calls.
extension StorageTransaction {
  /// Refuses to drop a model, for engines whose capabilities exclude it.
  ///
  /// - Parameter schema: The model.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported``, always.
  public func refuseDrop(of schema: ModelSchema) throws {
    throw PersistenceError.unsupported("remove the model \(schema.name)", by: "the context")
  }

  /// Reads the keys, then updates each record separately; if one update throws, none takes effect.
  ///
  /// Engines that update records in place call it after a constraint failure, to find the rejected record.
  ///
  /// - Parameter request: The records, and the assignments.
  /// - Returns: The number of updated records.
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
        let exists = try find(key, in: schema) { row in
          changed.reset()
          for position in 0..<row.count { changed.setCopy(of: row[position], at: position) }
        }
        guard exists else { throw PersistenceError.notFound(key, in: schema) }
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
