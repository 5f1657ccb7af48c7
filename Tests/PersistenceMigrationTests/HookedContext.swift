import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// A context that runs a closure once during a call, to simulate another process.
final class HookedContext: StorageContextWrapper {
  typealias Hook = @Sendable () throws -> Void

  let wrapped: any StorageContext
  private let beforeTransaction: Mutex<Hook?>
  private let afterSnapshot: Mutex<Hook?>
  private let afterLookup: Mutex<Hook?>
  private let afterPublication: Mutex<Hook?>

  init(
    _ wrapped: any StorageContext, beforeTransaction: Hook? = nil, afterSnapshot: Hook? = nil,
    afterLookup: Hook? = nil, afterPublication: Hook? = nil
  ) {
    self.wrapped = wrapped
    self.beforeTransaction = Mutex(beforeTransaction)
    self.afterSnapshot = Mutex(afterSnapshot)
    self.afterLookup = Mutex(afterLookup)
    self.afterPublication = Mutex(afterPublication)
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try Self.take(beforeTransaction)?()
    try wrapped.transaction(mode, body)
    if try !wrapped.holdsUnfinishedMigration() { try Self.take(afterPublication)?() }
  }

  func schema(named name: String) throws -> ModelSchema? {
    let schema = try wrapped.schema(named: name)
    try Self.take(afterLookup)?()
    return schema
  }

  func snapshot() throws -> any StorageSnapshot {
    let snapshot = try wrapped.snapshot()
    try Self.take(afterSnapshot)?()
    return snapshot
  }

  private static func take(_ hook: borrowing Mutex<Hook?>) -> Hook? {
    hook.withLock { hook in
      defer { hook = nil }
      return hook
    }
  }
}
