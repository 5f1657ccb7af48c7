/// The rows of a request in their order, read in pages while a snapshot is pinned.
///
/// It may be used by several threads at once. Releasing it releases the snapshot.
public protocol StorageResults: AnyObject, Sendable {
  /// How many rows there are, without decoding them.
  ///
  /// - Throws: ``PersistenceError``.
  /// - Complexity: At most one scan of keys the first time, constant afterwards.
  func count() throws -> Int

  /// Reads a run of rows.
  ///
  /// - Parameters:
  ///   - offset: How many rows of the result come before the run.
  ///   - limit: How many rows are read at most.
  ///   - body: Called for each row, in order; the row is lent, not given.
  /// - Returns: How many rows were read; fewer than `limit` means that the result ends there.
  /// - Throws: ``PersistenceError`` naming the record that could not be read, and what the closure throws.
  /// - Complexity: Linear in `limit`, where `offset` is 0 or follows a run read before; a jump further ahead
  ///   may take one scan of keys up to it, once.
  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int

  /// Whether reading many rows takes a random access each, as by an index: callers then begin with a short page.
  var usesRandomAccess: Bool { get }
}
