import PersistenceCore
import PersistenceDriverSupport

/// An in-memory context that is filled from a store when it opens, and forwards its commits to it.
final class MirroredContext: StorageContextWrapper {
  typealias Commits = [[WriteRecorder.Write]]

  let wrapped: any StorageContext
  private let back: any StorageContext
  private let isMultiProcess: Bool
  private let flush: @Sendable (any StorageContext, _ isClosing: Bool, Commits) throws -> Void
  private let commits = Remembered<Commits>([])

  /// Opens a mirror.
  ///
  /// - Parameters:
  ///   - back: The store.
  ///   - front: An empty context to fill.
  ///   - isMultiProcess: The declared capability.
  ///   - flush: Called after each commit and at the close, with the last two commits.
  /// - Throws: An error of reading the store.
  init(
    _ back: any StorageContext, before front: MemoryContext, isMultiProcess: Bool = false,
    flush: @escaping @Sendable (any StorageContext, _ isClosing: Bool, Commits) throws -> Void
  ) throws {
    self.back = back
    self.isMultiProcess = isMultiProcess
    self.flush = flush
    wrapped = front
    let content = try back.catalog().map { ($0, try back.rows(FetchRequest($0))) }
    try wrapped.transaction { transaction in
      for (schema, rows) in content {
        try transaction.define(schema)
        for row in rows { try transaction.write(.save, row, in: schema) }
      }
    }
  }

  var location: String { back.location }

  var capabilities: Capabilities {
    var capabilities = back.capabilities
    capabilities.isMultiProcess = isMultiProcess
    return capabilities
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    if back.capabilities.isReadOnly { throw PersistenceError.readOnly(location) }
    try wrapped.transaction(mode) { transaction in
      let recorder = WriteRecorder()
      try body(RecordedTransaction(transaction, recorder))
      let writes = recorder.all
      let commits = self.commits.change { commits in
        commits = commits.suffix(1) + [writes]
        return commits
      }
      try flush(back, false, commits)
    }
  }

  func close() throws {
    try wrapped.close()
    let commits = self.commits.change { commits in
      defer { commits = [] }
      return commits
    }
    if !commits.isEmpty { try flush(back, true, commits) }
    try back.close()
  }
}
