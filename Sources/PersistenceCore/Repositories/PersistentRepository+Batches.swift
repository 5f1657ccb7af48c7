public import Foundation
import PersistenceDriver
import PersistenceDriverSupport

extension PersistentRepository {
  /// Runs a closure as one transaction, but only the first time that a batch of this id is applied.
  ///
  /// The id is written to the store in the same transaction, as ``AppliedBatches`` says: a batch that is sent again,
  /// since nobody knew whether it had arrived, changes nothing.
  ///
  /// - Parameters:
  ///   - batch: What the batch is known by.
  ///   - body: The work, with the repository that it is to use.
  /// - Returns: Whether the closure was run: false where the batch had been applied before.
  /// - Throws: What the closure throws; then the batch has not been applied. ``PersistenceError`` with code
  ///   ``PersistenceError/Code/unsupported`` where the context keeps no rows.
  @discardableResult
  public func applyOnce(_ batch: UUID, _ body: (any PersistentRepository) throws -> Void) throws -> Bool {
    try transaction { inside in
      guard let transaction = try (inside.context as? TransactionContext)?.transaction() else {
        throw PersistenceError.unsupported("remember which batches were applied", by: "\(type(of: context))")
      }
      guard try AppliedBatches().record(batch, in: transaction) else { return false }
      try body(inside)
      return true
    }
  }
}
