import PersistencePrimitives

/// The commits of this process's transactions that run at the same time, until a check finds their numbers.
final class ParallelCommits: Sendable {
  /// Detects all commits by number.
  let numbered: any NumberedCommits

  /// The changes of this process's commits that no check has found yet, by the numbers of the transactions.
  let pending = Lock<[UInt64: PendingCommit]>([:])

  /// The search for commits, which one thread makes for all that have committed.
  let search = SharedTurn()

  init(_ numbered: any NumberedCommits) { self.numbered = numbered }

  /// Registers the changes of a transaction that is about to commit.
  func register(_ record: CommitRecord, of transaction: NumberedTransaction) {
    pending.withLock { $0[transaction.number] = PendingCommit(record, of: transaction) }
  }

  /// Whether no check has found a commit yet.
  func isPending(_ number: UInt64?) -> Bool {
    guard let number else { return false }
    return pending.withLock { $0[number] != nil }
  }

  /// Removes and returns the changes of a commit; nil if they are not registered.
  func take(_ number: UInt64?) -> PendingCommit? {
    guard let number else { return nil }
    return pending.withLock { $0.removeValue(forKey: number) }
  }
}

/// The changes of a commit that no check has found yet.
struct PendingCommit {
  let record: CommitRecord
  let transaction: NumberedTransaction

  init(_ record: CommitRecord, of transaction: NumberedTransaction) {
    (self.record, self.transaction) = (record, transaction)
  }
}
