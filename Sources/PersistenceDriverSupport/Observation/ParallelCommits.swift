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
  /// The changes of commits that no check has found yet, by the numbers of the transactions, in the order of their writes.
  private var pending: [UInt64: [PendingCommit]] = [:]
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
  var count: Int { condition.withLock { pending.values.reduce(unnumbered.count) { $0 + $1.count } } }

  /// Begins the commit of a record whose number is not known yet.
  func begin(_ record: CommitRecord) -> RunningCommit {
    condition.withLock {
      lastCommit += 1
      unnumbered[lastCommit] = Unnumbered()
      return RunningCommit(id: lastCommit, record: record)
    }
  }

  /// Registers the changes of commits, whose common number is now known.
  ///
  /// A check that finds the number takes all that is registered by it, so they are registered at once. If one was forgotten
  /// with the observers of its time, none is, and checks take the number for another process's.
  func register(_ commits: [RunningCommit], of transaction: NumberedTransaction) {
    condition.withLock {
      guard commits.allSatisfy({ unnumbered[$0.id] != nil }) else { return }
      for commit in commits {
        commit.number = transaction.number
        let known = unnumbered.removeValue(forKey: commit.id)
        if known?.taken.contains(transaction.number) == false {
          pending[transaction.number, default: []].append(
            PendingCommit(record: commit.record, transaction: transaction))
        }
      }
      for commit in commits { wakeCheck(after: commit.id, number: transaction.number) }
    }
  }

  /// Takes a number back from commits, which may get other numbers.
  func withdraw(_ commits: [RunningCommit]) {
    condition.withLock {
      // One that is not registered any more was forgotten, or will be taken for another process's.
      for commit in commits where remove(commit) { unnumbered[commit.id] = Unnumbered() }
      for commit in commits { commit.number = nil }
    }
  }

  /// Ends a commit that has got no number.
  func end(_ commit: RunningCommit) {
    condition.withLock {
      if unnumbered.removeValue(forKey: commit.id) != nil { wakeCheck(after: commit.id, number: nil) }
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
  func isPending(_ commit: RunningCommit) -> Bool { condition.withLock { place(of: commit) != nil } }

  /// Removes the changes of a commit; returns false if they are not registered.
  @discardableResult
  func take(_ commit: RunningCommit) -> Bool { condition.withLock { remove(commit) } }

  private func remove(_ commit: RunningCommit) -> Bool {
    guard let number = commit.number, let place = place(of: commit) else { return false }
    pending[number]?.remove(at: place)
    if pending[number]?.isEmpty == true { pending[number] = nil }
    return true
  }

  private func place(of commit: RunningCommit) -> Int? {
    commit.number.flatMap { pending[$0] }?.firstIndex { $0.record === commit.record }
  }

  /// Removes and returns the changes of the commits that a check has found; none for those of other processes.
  func take(found numbers: [UInt64]) -> [[PendingCommit]] {
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
      let found = numbers.map { pending.removeValue(forKey: $0) ?? [] }
      let unknown = zip(numbers, found).filter { $0.1.isEmpty }.map(\.0)
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

/// A commit that has begun.
final class RunningCommit {
  let id: Int
  let record: CommitRecord
  /// The number of its transaction; nil as long as it is not known.
  ///
  /// The thread that commits sets it, while the thread of the transaction commits itself or waits for that one.
  fileprivate(set) var number: UInt64?

  init(id: Int, record: CommitRecord) { (self.id, self.record) = (id, record) }
}

/// What the engine calls with the number of a transaction, before it waits for the commit.
package struct CommitRegistration {
  /// The commit; nil if nobody observed the store when the transaction began.
  private let running: (commit: RunningCommit, parallel: ParallelCommits)?

  init(_ commit: RunningCommit, in parallel: ParallelCommits) {
    running = (commit: commit, parallel: parallel)
  }

  private init() { running = nil }

  /// The registration of a transaction that nobody observes.
  static var unobserved: CommitRegistration { CommitRegistration() }

  /// Registers a transaction by its number.
  package func callAsFunction(_ transaction: NumberedTransaction) { Self.register([self], of: transaction) }

  /// Registers transactions of one store that are committed as one, in the order of their writes.
  ///
  /// If one of them began before anybody observed the store, its changes are not known, so none is registered.
  package static func register(_ all: [CommitRegistration], of transaction: NumberedTransaction) {
    let running = all.compactMap { $0.running }
    guard running.count == all.count else { return }
    running.first?.parallel.register(running.map { $0.commit }, of: transaction)
  }

  /// Takes a number back from transactions of one store: it was rolled back, so that each can be committed alone, or nobody
  /// knows its outcome.
  package static func withdraw(_ all: [CommitRegistration]) {
    let running = all.compactMap { $0.running }
    running.first?.parallel.withdraw(running.map { $0.commit })
  }
}
