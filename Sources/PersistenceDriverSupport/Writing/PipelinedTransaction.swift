package import PersistenceDriver

/// A transaction of an engine whose answers take a round trip each: insertions may run ahead of their answers.
package protocol PipelinedTransaction: StorageTransaction {
  /// Whether the engine gains from it; a wrapper says what the wrapped transaction says.
  var isPipelining: Bool { get }

  /// Adds a record as ``PersistenceDriver/StorageTransaction/insert(_:in:)`` does, and does not wait for the answer.
  ///
  /// Later calls of the transaction see the record, unless it was refused.
  func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws

  /// Waits for the answers to ``insertAhead(_:in:)`` since the last call, and returns whether all were inserted.
  ///
  /// A transaction that is not asked after a refusal does not commit. Its closure runs again if it may, and learns of the
  /// refusal where it inserts the record.
  func waitForInsertions() throws -> Bool
}

/// One of several insertions was refused.
private struct Refusal: Error {}

extension StorageTransaction {
  /// Forwards to a transaction that may be one of a pipeline; otherwise waits for the answer.
  ///
  /// The commit throws if the insertion is refused, or the closure runs again.
  package func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws {
    guard let pipeline else { return try insert(row, in: schema) }
    try pipeline.insertAhead(row, in: schema)
  }

  /// Forwards to a transaction that may be one of a pipeline.
  func waitForInsertions() throws -> Bool { try pipeline?.waitForInsertions() ?? true }

  /// The transaction as one of a pipeline; nil if it is none.
  var pipeline: (any PipelinedTransaction)? {
    guard let pipeline = self as? any PipelinedTransaction, pipeline.isPipelining else { return nil }
    return pipeline
  }

  /// Whether ``insertTogether(_:in:_:)`` saves time.
  package var isPipeline: Bool { pipeline != nil }

  /// Adds all rows and waits for one answer, if the engine can and refuses none.
  ///
  /// - Parameters:
  ///   - count: The number of rows.
  ///   - schema: The model.
  ///   - row: Passes the row at a position to a closure.
  /// - Returns: Whether the rows were added. Otherwise none was: add them one by one, to learn which one is refused, and
  ///   why.
  /// - Throws: Errors of the closure `row` that are no ``PersistenceError``.
  package func insertTogether(
    _ count: Int, in schema: ModelSchema,
    _ row: (_ position: Int, _ body: (borrowing Row) throws -> Void) throws -> Void
  ) throws -> Bool {
    // Nesting takes two round trips, and the answer up to two.
    guard count > 4, let pipeline else { return false }
    do {
      try nested {
        for position in 0..<count { try row(position) { try pipeline.insertAhead($0, in: schema) } }
        guard try pipeline.waitForInsertions() else { throw Refusal() }
      }
      return true
    } catch is Refusal {
      return false
    } catch is PersistenceError {
      return false
    }
  }
}
