import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The inside of a transaction, as a context that models are fetched in and saved to.
///
/// It is handed to the closure of a transaction and dies with it. It belongs to the thread that runs the
/// closure.
final class TransactionContext: PersistentContext {
  /// The context whose transaction this is.
  let root: any StorageContext

  private let thread = ThreadIdentity.current
  private let state: Mutex<Unchecked?>

  private struct Unchecked: @unchecked Sendable {  // used by the one thread that `withTransaction` lets in
    let transaction: any StorageTransaction
  }

  init(_ transaction: any StorageTransaction, of root: any StorageContext) {
    self.root = root
    state = Mutex(nil)
    let unchecked = Unchecked(transaction: transaction)
    state.withLock { $0 = unchecked }
  }

  /// Ends the transaction: further use throws.
  func end() {
    state.withLock { $0 = nil }
  }

  /// The driver's transaction, for the thread that it belongs to.
  func transaction() throws -> any StorageTransaction {
    guard thread == ThreadIdentity.current else {
      throw PersistenceError(
        .insideTransaction, "a transaction belongs to the thread that runs its closure, another one used it",
        location: root.location)
    }
    guard let unchecked = state.withLock({ $0 }) else { throw PersistenceError.closed("the transaction") }
    return unchecked.transaction
  }
}
