extension StorageTransaction {
  /// Changes each record for itself: what an engine does that cannot do better.
  ///
  /// - Parameter request: Which records, and what is set.
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  public func update(_ request: UpdateRequest) throws -> Int { try updateOneByOne(request) }

  /// Reads the keys, then changes each record for itself, all of them or, where it throws, none.
  ///
  /// Engines that change records in place call it where they were refused, to learn which record it was.
  ///
  /// - Parameter request: Which records, and what is set.
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  public func updateOneByOne(_ request: UpdateRequest) throws -> Int {
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
