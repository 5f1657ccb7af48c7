import Foundation
import PersistencePrimitives

/// The commits of this process's transactions that run at the same time, until a check finds their numbers.
///
/// A transaction learns its number at the earliest from the answer to the statements before its commit, so a check may find
/// the number first. It waits for those that were on their way.
final class ParallelCommits: @unchecked Sendable {  // the condition guards the variables
  /// A commit whose number is not known yet.
  private struct Unnumbered {
    /// The numbers that checks have taken for another process's meanwhile.
    var taken: Set<UInt64> = []
    /// Whether a check has waited in vain; the commit may be waiting for a lock.
    var isLate = false
  }

  /// Detects all commits by number.
  let numbered: any NumberedCommits

  /// The search for commits, which one thread makes for all that have committed.
  ///
  /// Each search asks the server, and each that finds something lets observers read. Without a pause, both would take the
  /// processors from many writers all the time.
  let search = SharedTurn(pause: 0.005)

  private let condition = NSCondition()
  /// The changes of commits that no check has found yet, by the numbers of the transactions.
  private var pending: [UInt64: PendingCommit] = [:]
  private var unnumbered: [Int: Unnumbered] = [:]
  private var lastCommit = 0
  /// What the check that waits has found and does not know, and the commits that may bring it; both are empty without one.
  private var (wanted, awaited): (Set<UInt64>, Set<Int>) = ([], [])
  /// How many time-outs in all end the wait for numbers.
  ///
  /// On a machine with too few processors, time passes while neither thread runs. A check that was woken so often has given
  /// the committing thread as many turns as it got itself.
  private static let slices = 10
  /// How long one of these time-outs is, in seconds.
  private let slice: TimeInterval
  /// Waits for a broadcast until a time; returns false if the time has passed.
  private let wait: @Sendable (NSCondition, Date) -> Bool

  init(
    _ numbered: any NumberedCommits, patience: TimeInterval,
    wait: @escaping @Sendable (NSCondition, Date) -> Bool
  ) {
    (self.numbered, self.wait) = (numbered, wait)
    slice = patience / Double(Self.slices)
  }

  /// The number of commits that no check has found yet.
  var count: Int { condition.withLock { pending.count + unnumbered.count } }

  /// Begins a commit whose number is not known yet; returns its identity in this process.
  func begin() -> Int {
    condition.withLock {
      lastCommit += 1
      unnumbered[lastCommit] = Unnumbered()
      return lastCommit
    }
  }

  /// Registers the changes of a commit, whose number is now known.
  func register(_ record: CommitRecord, of transaction: NumberedTransaction, _ commit: Int) {
    condition.withLock {
      let known = unnumbered.removeValue(forKey: commit)
      if known?.taken.contains(transaction.number) == false {
        pending[transaction.number] = PendingCommit(record: record, transaction: transaction)
      }
      wakeCheck(after: commit, number: transaction.number)
    }
  }

  /// Ends a commit that has got no number.
  func end(_ commit: Int) {
    condition.withLock {
      if unnumbered.removeValue(forKey: commit) != nil { wakeCheck(after: commit, number: nil) }
    }
  }

  /// Wakes the check that waits, if a commit was the last one that it needs.
  ///
  /// While many commit, each would take a processor from them to find out that it has to wait on.
  private func wakeCheck(after commit: Int, number: UInt64?) {
    guard !awaited.isEmpty else { return }
    if let number { wanted.remove(number) }
    awaited.remove(commit)
    if wanted.isEmpty || awaited.isEmpty { condition.broadcast() }
  }

  /// Whether no check has found a commit yet.
  func isPending(_ number: UInt64) -> Bool { condition.withLock { pending[number] != nil } }

  /// Removes and returns the changes of a commit; nil if they are not registered.
  func take(_ number: UInt64) -> PendingCommit? { condition.withLock { pending.removeValue(forKey: number) } }

  /// Removes and returns the changes of the commits that a check has found; nil for those of other processes.
  func take(found numbers: [UInt64]) -> [PendingCommit?] {
    condition.withLock {
      // The server answers the statements before it commits, so the answers to what it has committed are here.
      let sent = unnumbered.filter { !$0.value.isLate }.keys
      var (slicesLeft, deadline) = (Self.slices, Date(timeIntervalSinceNow: slice))
      defer { (wanted, awaited) = ([], []) }
      while true {
        wanted = Set(numbers.filter { pending[$0] == nil })
        awaited = Set(sent.filter { unnumbered[$0] != nil })
        if wanted.isEmpty || awaited.isEmpty { break }
        // A broadcast ends the wait early, and changes no deadline.
        if wait(condition, deadline) { continue }
        slicesLeft -= 1
        guard slicesLeft > 0 else {
          for commit in sent { unnumbered[commit]?.isLate = true }
          break
        }
        deadline = Date(timeIntervalSinceNow: slice)
      }
      let found = numbers.map { pending.removeValue(forKey: $0) }
      let unknown = zip(numbers, found).filter { $0.1 == nil }.map(\.0)
      if !unknown.isEmpty { for commit in unnumbered.keys { unnumbered[commit]?.taken.formUnion(unknown) } }
      return found
    }
  }

  /// Forgets all commits, also those whose numbers are not known yet.
  func removeAll() {
    condition.withLock {
      pending.removeAll()
      unnumbered.removeAll()
      condition.broadcast()
    }
  }
}

/// The changes of a commit that no check has found yet.
struct PendingCommit {
  let record: CommitRecord
  let transaction: NumberedTransaction
}
