import PersistenceDriver
import PersistenceDriverSupport

/// The transactions that the calling thread is inside of: how the outer context notices that it is used within
/// the closure of its own transaction, where it would wait for itself (contract R1a).
///
/// A wrapper and the context within it are one store, so contexts are told apart by their innermost layer.
final class TransactionScope: Sendable {
  @TaskLocal static var current: TransactionScope?

  private let context: ObjectIdentifier
  private let thread = ThreadIdentity.current
  private let outer: TransactionScope?

  private init(_ context: any StorageContext, outer: TransactionScope?) {
    self.context = ObjectIdentifier(context.innermost)
    self.outer = outer
  }

  /// Runs a closure as the inside of a transaction of a context.
  static func enter<Result>(_ context: any StorageContext, _ body: () throws -> Result) rethrows -> Result {
    try $current.withValue(TransactionScope(context, outer: current), operation: body)
  }

  /// Throws where the calling thread is inside a transaction of the context.
  ///
  /// A task started in the closure inherits the scope but runs on another thread: it may wait.
  static func requireOutside(of context: any StorageContext) throws {
    guard var scope = current else { return }
    let thread = ThreadIdentity.current
    let identity = ObjectIdentifier(context.innermost)
    while true {
      if scope.context == identity, scope.thread == thread {
        throw PersistenceError.insideTransaction(context.location)
      }
      guard let outer = scope.outer else { return }
      scope = outer
    }
  }
}
