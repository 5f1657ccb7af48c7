import Foundation
import Synchronization
import Testing
import PersistenceDriverSupport

/// U1: observers hear of commits that run at the same time.
@Suite("Numbered commits")
struct NumberedCommitsTests {
  private let notes: ModelSchema
  private let context = MemoryContext()
  private let commits = ScriptedNumbers()
  private let observers: CommitObservers

  init() throws {
    notes = try ModelSchema(name: "Note", fields: [FieldSchema("id", .int64)], key: ["id"])
    let schema = notes
    try context.transaction { try $0.define(schema) }
    observers = CommitObservers(outside: commits, patience: 60)
  }

  private func observer() throws -> CommitObserver {
    let observer = try CommitObserver(FetchRequest(notes), in: context, keyLimit: 100)
    try observers.add(observer)
    return observer
  }

  private func transaction(_ number: UInt64, _ moment: String) throws -> NumberedTransaction {
    try NumberedTransactionTests.transaction(number, moment)
  }

  /// Runs a transaction until its commit, which the returned closure makes; it runs another closure before it knows the number.
  private func run(
    _ numbered: NumberedTransaction, in observers: CommitObservers? = nil,
    unnumbered: @escaping () throws -> Void = {},
    _ change: (any StorageTransaction) throws -> Void
  ) throws -> (_ outcome: () throws -> Bool) throws -> Void {
    let observers = observers ?? self.observers
    let begun = try begun(in: observers, change)
    return { outcome in
      try observers.commit(begun) { register in
        try unnumbered()
        register(numbered)
        return try outcome()
      }
    }
  }

  /// Runs a transaction until its commit.
  private func begun(
    in observers: CommitObservers, _ change: (any StorageTransaction) throws -> Void
  ) throws -> ObservedTransaction {
    var observed: ObservedTransaction?
    try context.transaction { transaction in
      let begun = observers.begin(transaction)
      try change(begun.transaction)
      observed = begun
    }
    return try #require(observed)
  }

  private func insert(_ id: Int64) -> (any StorageTransaction) throws -> Void {
    let schema = notes
    return { transaction in
      let row = RowBuffer(count: 1)
      row.set([.integer(id)])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  private func delete(_ id: Int64) -> (any StorageTransaction) throws -> Void {
    let schema = notes
    return { _ = try $0.delete(RecordKey([.integer(id)]), in: schema) }
  }

  @Test("U1 a commit is told once, whichever check finds it first")
  func once() throws {
    let observer = try observer()
    let first = try run(transaction(10, "10:10:"), insert(1))
    let second = try run(transaction(11, "10:11:10"), insert(2))
    // The check after the second commit finds both.
    try first {
      try second {
        commits.found.withLock { $0 = [11, 10] }
        return true
      }
      return true
    }
    let changes = try observers.look(observer, at: context).changes
    #expect(changes.entries.count == 2 && !changes.isUnknown)
    #expect(try observers.look(observer, at: context).changes.isEmpty)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 transactions that are committed as one are told once each, in the order of their writes")
  func shared() throws {
    let observer = try observer()
    for (changes, count) in [([insert(1), insert(2)], 2), ([insert(3), delete(3)], 0)] {
      let transactions = try changes.map { try begun(in: observers, $0) }
      let numbered = try transaction(10, "10:10:")
      try observers.commit(transactions[0]) { one in
        try observers.commit(transactions[1]) { other in
          CommitRegistration.register([one, other], of: numbered)
          commits.found.withLock { $0 = [10] }
          return true
        }
        return true
      }
      let told = try observers.look(observer, at: context).changes
      #expect(told.entries.count == count && !told.isUnknown)
      #expect(observers.pendingCount == 0)
    }
  }

  @Test(
    "U1 a common number of transactions of which observers do not know all belongs to another process",
    arguments: [false, true])
  func partlyKnown(isForgotten: Bool) throws {
    let earlier = isForgotten ? try observer() : nil
    let first = try begun(in: observers, insert(1))
    var observer: CommitObserver?
    let numbered = try transaction(10, "10:10:")
    try observers.commit(first) { one in
      if let earlier { observers.remove(earlier) }
      observer = try self.observer()
      let second = try begun(in: observers, insert(2))
      try observers.commit(second) { other in
        CommitRegistration.register([one, other], of: numbered)
        commits.found.withLock { $0 = [10] }
        return true
      }
      return true
    }
    let told = try observers.look(#require(observer), at: context).changes
    #expect(told.isUnknown)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 transactions whose common number was rolled back are told by the numbers that they get alone")
  func withdrawn() throws {
    let observer = try observer()
    let transactions = try [insert(1), insert(2)].map { try begun(in: observers, $0) }
    let numbered = try (10...12).map { try transaction($0, "\($0):\($0):") }
    try observers.commit(transactions[0]) { one in
      try observers.commit(transactions[1]) { other in
        CommitRegistration.register([one, other], of: numbered[0])
        CommitRegistration.withdraw([one, other])
        #expect(observers.pendingCount == 2)
        one(numbered[1])
        other(numbered[2])
        commits.found.withLock { $0 = [11, 12] }
        return true
      }
      return true
    }
    let told = try observers.look(observer, at: context).changes
    #expect(told.entries.count == 2 && !told.isUnknown)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 a number that was not registered belongs to another process, whose changes are unknown")
  func outside() throws {
    let observer = try observer()
    commits.found.withLock { $0 = [7] }
    #expect(try observers.look(observer, at: context).changes.isUnknown)
  }

  @Test("U1 a check that finds the number of a running commit waits until this process knows it")
  func awaited() async throws {
    let observer = try observer()
    let (looks, hasLooked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let found = Mutex<KeyChanges?>(nil)
    let commit = try run(
      transaction(10, "10:10:"),
      unnumbered: { [commits, observers, context] in
        commits.found.withLock { $0 = [10] }
        Thread.detachNewThread {
          looks.signal()
          let changes = try? observers.look(observer, at: context).changes
          found.withLock { $0 = changes }
          hasLooked.signal()
        }
        looks.wait()
        // The check has probably begun. It finds the number later too.
        Thread.sleep(forTimeInterval: 0.02)
      }, insert(1))
    try commit {
      hasLooked.wait()
      return true
    }
    let changes = try #require(found.withLock { $0 })
    #expect(changes.entries.count == 1 && !changes.isUnknown)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 a transaction begins while a check waits for its server")
  func begins() throws {
    let observer = try observer()
    let (isAsked, mayAnswer, hasLooked) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    commits.beforeAnswer.withLock {
      $0 = {
        isAsked.signal()
        _ = mayAnswer.wait(timeout: .now() + 30)
      }
    }
    Thread.detachNewThread { [observers, context] in
      _ = try? observers.look(observer, at: context)
      hasLooked.signal()
    }
    isAsked.wait()
    commits.beforeAnswer.withLock { $0 = nil }
    // The check holds the observers' lock.
    let commit = try run(transaction(10, "10:10:"), insert(1))
    #expect(hasLooked.wait(timeout: .now()) == .timedOut)
    mayAnswer.signal()
    hasLooked.wait()
    try commit {
      commits.found.withLock { $0 = [10] }
      return true
    }
    let changes = try observers.look(observer, at: context).changes
    #expect(changes.entries.count == 1 && !changes.isUnknown)
  }

  @Test("U1 a commit that a check has taken for another process's is not told again")
  func late() throws {
    let observers = CommitObservers(outside: commits, patience: 0)
    let observer = try CommitObserver(FetchRequest(notes), in: context, keyLimit: 100)
    try observers.add(observer)
    let commit = try run(
      transaction(10, "10:10:"), in: observers,
      unnumbered: { [commits, context] in
        commits.found.withLock { $0 = [10] }
        let changes = try observers.look(observer, at: context).changes
        #expect(changes.isUnknown)
      }, insert(1))
    try commit { true }
    #expect(try observers.look(observer, at: context).changes.isEmpty)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 a check waits for its own process's number while time passes in which neither thread runs")
  func starved() throws {
    let (mayRegister, isRegistered, hasLooked) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let timeouts = Atomic(0)
    // Each wait times out at once. The committing thread gets a processor during the last but one.
    let observers = CommitObservers(outside: commits, patience: 60) { condition, _ in
      guard timeouts.add(1, ordering: .relaxed).newValue == 9 else { return false }
      condition.unlock()
      mayRegister.signal()
      _ = isRegistered.wait(timeout: .now() + 30)
      condition.lock()
      return false
    }
    let observer = try CommitObserver(FetchRequest(notes), in: context, keyLimit: 100)
    try observers.add(observer)
    let found = Mutex<KeyChanges?>(nil)
    let commit = try run(
      transaction(10, "10:10:"), in: observers,
      unnumbered: { [commits, context] in
        commits.found.withLock { $0 = [10] }
        Thread.detachNewThread {
          let changes = try? observers.look(observer, at: context).changes
          found.withLock { $0 = changes }
          hasLooked.signal()
        }
        _ = mayRegister.wait(timeout: .now() + 30)
      }, insert(1))
    try commit {
      isRegistered.signal()
      hasLooked.wait()
      return true
    }
    let changes = try #require(found.withLock { $0 })
    #expect(changes.entries.count == 1 && !changes.isUnknown)
    #expect(timeouts.load(ordering: .relaxed) == 9)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 a check gives up after ten time-outs, which broadcasts neither extend nor shorten")
  func slices() throws {
    let deadlines = Mutex<[Date]>([])
    // Two broadcasts precede each time-out.
    let observers = CommitObservers(outside: commits, patience: 60) { _, deadline in
      deadlines.withLock {
        $0.append(deadline)
        return !$0.count.isMultiple(of: 3)
      }
    }
    let observer = try CommitObserver(FetchRequest(notes), in: context, keyLimit: 100)
    try observers.add(observer)
    let commit = try run(
      transaction(10, "10:10:"), in: observers,
      unnumbered: { [commits, context] in
        commits.found.withLock { $0 = [10] }
        #expect(try observers.look(observer, at: context).changes.isUnknown)
        let known = deadlines.withLock { $0 }
        try #require(known.count == 30)
        for first in stride(from: 0, to: 30, by: 3) { #expect(Set(known[first..<first + 3]).count == 1) }
        // Each is a tenth of the whole.
        #expect(known[29].timeIntervalSinceNow <= 6)
        commits.found.withLock { $0 = [11] }
        #expect(try observers.look(observer, at: context).changes.isUnknown)
        #expect(deadlines.withLock { $0.count } == 30)
      }, insert(1))
    try commit { true }
    #expect(try observers.look(observer, at: context).changes.isEmpty)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 a commit beside a snapshot that cannot be compared with it causes another snapshot")
  func incomparable() throws {
    commits.comparesSnapshots.store(false, ordering: .relaxed)
    let observer = try observer()
    let commit = try run(transaction(10, "10:10:"), insert(1))
    let counting = CountingContext(wrapped: context) { [commits] in
      // The first snapshot turns out to be incomparable.
      if $0 == 2 { commits.found.withLock { $0 = [10] } }
    }
    try commit {
      let changes = try observers.look(observer, at: counting).changes
      #expect(changes.entries.count == 1 && !changes.isUnknown)
      #expect(counting.snapshots.load(ordering: .relaxed) == 3)
      return true
    }
    #expect(try observers.look(observer, at: context).changes.isEmpty)
  }

  @Test("U1 a rolled-back commit is not told, and one of unknown outcome discards the keys")
  func failures() throws {
    let observer = try observer()
    for (code, isUnknown) in [(PersistenceError.Code.busy, false), (.outcomeUnknown, true)] {
      let commit = try run(transaction(10, "10:10:"), insert(Int64(isUnknown ? 1 : 2)))
      #expect(throws: PersistenceError.self) {
        try commit { throw PersistenceError(code, "the commit failed") }
      }
      #expect(try observers.look(observer, at: context).changes.isUnknown == isUnknown)
      #expect(observers.pendingCount == 0)
    }
    let empty = try run(transaction(12, "12:12:")) { _ in }
    try empty { false }
    #expect(try observers.look(observer, at: context).changes.isEmpty)
    #expect(observers.pendingCount == 0)
  }

  @Test("U1 an insertion and a deletion of one key are told in their order, whichever number is greater")
  func orderOfOneKey() throws {
    let observer = try observer()
    // The deletion has seen the insertion, or the insertion has not seen the deletion of an earlier record.
    for (moment, remains) in [("11:11:", false), ("10:11:10", true)] {
      if remains { try context.transaction(insert(1)) }
      let insertion = remains ? nil : try run(transaction(10, "10:10:"), insert(1))
      let deletion = try run(transaction(11, moment), delete(1))
      let late = remains ? try run(transaction(10, "10:10:"), insert(1)) : nil
      try (insertion ?? late)? {
        try deletion {
          commits.found.withLock { $0 = [10, 11] }
          return true
        }
        return true
      }
      let changes = try observers.look(observer, at: context).changes
      #expect(!changes.isUnknown)
      let entry = KeyChanges.Entry(matchedBefore: true, matchesNow: true)
      #expect(changes.entries == (remains ? [RecordKey([.integer(1)]): entry] : [:]))
    }
  }
}

/// Numbers of commits as a test states them, each found once.
private final class ScriptedNumbers: NumberedCommits {
  let found = Mutex<[UInt64]>([])
  let comparesSnapshots = Atomic(true)
  /// What happens before an answer.
  let beforeAnswer = Mutex<(@Sendable () -> Void)?>(nil)

  func newCommits() throws -> NewCommits {
    beforeAnswer.withLock(\.self)?()
    return found.withLock { found in
      defer { found = [] }
      return NewCommits(numbers: found, isWhole: true)
    }
  }

  func newCommits(seenBy snapshot: any StorageSnapshot) throws -> NewCommits? {
    guard comparesSnapshots.load(ordering: .relaxed) else { return nil }
    return try newCommits()
  }

  func reset() {}
}

/// A context that counts its snapshots.
private final class CountingContext: StorageContextWrapper {
  let wrapped: any StorageContext
  let snapshots = Atomic(0)
  private let taken: @Sendable (Int) -> Void

  init(wrapped: any StorageContext, _ taken: @escaping @Sendable (Int) -> Void) {
    (self.wrapped, self.taken) = (wrapped, taken)
  }

  func snapshot() throws -> any StorageSnapshot {
    let snapshot = try wrapped.snapshot()
    taken(snapshots.add(1, ordering: .relaxed).newValue)
    return snapshot
  }
}
