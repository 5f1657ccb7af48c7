public import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// A running transaction as a context, for fetching and saving models.
///
/// The closure of a transaction receives it. It is closed when the closure returns, and belongs to that thread.
final class TransactionContext: PersistentContext {
  /// The context whose transaction this is.
  let root: any StorageContext

  private let thread = ThreadIdentity.current
  private let state: Mutex<Unchecked?>

  private struct Unchecked: @unchecked Sendable {  // used by the one thread that `withTransaction` lets in
    var transaction: any StorageTransaction
  }

  /// Whether the transaction may keep references; false if its store mirrors another one.
  private let keepsReferences: Bool

  private init(
    _ transaction: any StorageTransaction, of root: any StorageContext, keepsReferences: Bool
  ) {
    self.root = root
    self.keepsReferences = keepsReferences
    state = Mutex(Unchecked(transaction: transaction))
  }

  /// Runs a closure with a context for a transaction of a store, and checks the references at its end.
  static func run(
    _ transaction: any StorageTransaction, of root: any StorageContext, keepsReferences: Bool = true,
    _ body: (TransactionContext) throws -> Void
  ) throws {
    let keeps = try keepsReferences && ReferenceLedger.exists(in: transaction)
    let inside = TransactionContext(
      keeps ? KeepingTransaction(transaction, location: root.location) : transaction, of: root,
      keepsReferences: keepsReferences)
    defer { inside.end() }
    try body(inside)
    try inside.finish()
  }

  /// Closes the transaction: further use throws.
  func end() { state.withLock { $0 = nil } }

  /// Checks the references that the transaction wrote, before it commits.
  func finish() throws { try transaction().keeper?.finish() }

  /// Runs a closure as a nested transaction of a transaction of this context.
  func nested(_ transaction: any StorageTransaction, _ body: () throws -> Void) throws {
    do {
      try transaction.nested(body)
    } catch {
      // A keeper that the closure began with a reference does not see that the reference is undone.
      if transaction.keeper == nil { try? self.transaction().keeper?.forgetDeclarations() }
      throw error
    }
  }

  /// The transaction, for the thread that it belongs to.
  ///
  /// - Parameter declares: Whether the caller may declare references, which the transaction keeps from then on.
  /// - Returns: The transaction.
  /// - Throws: ``PersistenceError`` on another thread, or after the end.
  func transaction(declares: Bool = false) throws -> any StorageTransaction {
    guard thread == ThreadIdentity.current else {
      throw PersistenceError(
        .insideTransaction,
        "a thread used the transaction of another thread; use a transaction only on the thread that runs its closure",
        location: root.location)
    }
    guard var unchecked = state.withLock({ $0 }) else { throw PersistenceError.closed("the transaction") }
    if declares, keepsReferences, unchecked.transaction.keeper == nil {
      unchecked.transaction = KeepingTransaction(unchecked.transaction, location: root.location)
      state.withLock { [unchecked] in $0 = unchecked }
    }
    return unchecked.transaction
  }
}

/// The transactions that the calling thread is in.
///
/// They show whether the closure of a transaction uses the outer context, which would wait for itself
/// (contract R1a).
///
/// A wrapper and its wrapped context are one store, so the innermost layer identifies a context.
final class TransactionScope: Sendable {
  @TaskLocal static var current: TransactionScope?

  private let context: ObjectIdentifier
  private let thread = ThreadIdentity.current
  private let outer: TransactionScope?
  /// Tasks that the closure started keep the scope after its end.
  private let hasEnded = Atomic(false)

  private init(_ context: any StorageContext, outer: TransactionScope?) {
    self.context = ObjectIdentifier(context.innermost)
    self.outer = outer
  }

  /// The innermost scope that has not ended.
  private static var running: TransactionScope? {
    var scope = current
    while let ended = scope, ended.hasEnded.load(ordering: .relaxed) { scope = ended.outer }
    return scope
  }

  /// Runs a closure in the scope of a transaction of a context.
  static func enter<Result>(_ context: any StorageContext, _ body: () throws -> Result) rethrows -> Result {
    let scope = TransactionScope(context, outer: running)
    // Only the thread of the transaction must not begin another one, so it needs no order with other threads.
    defer { scope.hasEnded.store(true, ordering: .relaxed) }
    return try $current.withValue(scope, operation: body)
  }

  /// Throws if the calling thread is in a transaction of the context.
  ///
  /// A task that the closure starts inherits the scope, but may wait, because it runs on another thread.
  static func requireOutside(of context: any StorageContext) throws {
    guard var scope = running else { return }
    let thread = ThreadIdentity.current
    let identity = ObjectIdentifier(context.innermost)
    while true {
      if scope.context == identity, scope.thread == thread, !scope.hasEnded.load(ordering: .relaxed) {
        throw PersistenceError.insideTransaction(context.location)
      }
      guard let outer = scope.outer else { return }
      scope = outer
    }
  }
}

/// A context of another framework with transactions.
///
/// A ``StorageContext`` need not conform: it has its own transactions.
public protocol TransactionalContext: PersistentContext {
  /// Runs a closure as one transaction, which commits when the closure returns and rolls back when it throws.
  ///
  /// - Parameter body: Receives the context to use inside.
  /// - Throws: The closure's error, and ``PersistenceError``.
  func transaction(_ body: (any PersistentContext) throws -> Void) throws
}
