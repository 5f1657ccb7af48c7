import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// A context that runs a closure once during a call, to simulate another process.
final class HookedContext: StorageContextWrapper {
  typealias Hook = @Sendable () throws -> Void

  let wrapped: any StorageContext
  private let beforeTransaction: Mutex<Hook?>
  private let afterSnapshot: Mutex<Hook?>

  init(_ wrapped: any StorageContext, beforeTransaction: Hook? = nil, afterSnapshot: Hook? = nil) {
    self.wrapped = wrapped
    self.beforeTransaction = Mutex(beforeTransaction)
    self.afterSnapshot = Mutex(afterSnapshot)
  }

  func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    try Self.take(beforeTransaction)?()
    try wrapped.transaction(body)
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
