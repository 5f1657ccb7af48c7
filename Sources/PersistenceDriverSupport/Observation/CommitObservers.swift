import Synchronization
import PersistencePrimitives
import PersistenceDriver

/// Those who observe one store: what an engine tells of its commits.
///
/// All contexts of a process that have one store open share the observers, so the engine keeps them by the store's
/// identity and hands them to each context's ``ContextMonitor``. It runs each transaction's closure on what
/// ``begin(_:)`` gives, and commits inside ``commit(_:_:)``; as long as nobody observes, the first reads a flag and the
/// second takes a lock that nobody else wants.
///
/// ```swift
/// let observed = monitor.observers.begin(transaction)
/// try body(observed.transaction)
/// try monitor.observers.commit(observed) { try connection.commit() }
/// ```
///
/// A commit and a new observer's first look exclude each other, so what is seen and what is told afterwards fit without
/// a gap and without an overlap.
public final class CommitObservers: Sendable {
  private let observers = Lock<[CommitObserver]>([])
  private let observed = Atomic<Bool>(false)
  private static let ledger = StoredName(ReservedModel.fillLedger)

  /// Tells commits of other processes; nil where the engine cannot.
  let outside: (any OutsideCommits)?

  /// Makes the observers of a store, none as yet.
  ///
  /// - Parameter outside: Tells commits of other processes; nil where there are none, or they cannot be told.
  public init(outside: (any OutsideCommits)? = nil) { self.outside = outside }

  /// Whether anybody observes the store.
  public var isObserved: Bool { observed.load(ordering: .acquiring) }

  /// What is to be given to the closure of a transaction: the transaction itself or, while somebody observes, one that
  /// notes what it changes.
  ///
  /// - Parameter transaction: A transaction that has begun, on the thread that runs its closure.
  /// - Returns: What ``commit(_:_:)`` wants.
  public func begin(_ transaction: any StorageTransaction) -> ObservedTransaction {
    guard isObserved else { return ObservedTransaction(transaction: transaction, record: nil) }
    let record = CommitRecord(observers.withLock { $0 })
    return ObservedTransaction(transaction: RecordingTransaction(transaction, record), record: record)
  }

  /// Commits, and tells the observers.
  ///
  /// - Parameters:
  ///   - transaction: What ``begin(_:)`` gave.
  ///   - body: Commits, while this process's other writers are kept out.
  /// - Throws: What the closure throws.
  public func commit(_ transaction: ObservedTransaction, _ body: () throws -> Void) throws {
    var woken: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in woken { waiter.resume() } }
    try observers.withLock { observers in
      do {
        try body()
      } catch {
        // What failed on the medium may have been committed all the same: who observes looks again.
        transaction.record?.loseAll()
        tell(observers, of: transaction.record, &woken)
        throw error
      }
      guard !observers.isEmpty else { return }
      tell(observers, of: transaction.record, &woken)
      // A failure to ask is met by the observers, who ask before they look.
      _ = try? check(observers, &woken)
    }
  }

  private func tell(
    _ observers: [CommitObserver], of record: CommitRecord?, _ woken: inout [CheckedContinuation<Void, Never>]
  ) {
    // A migration that begins or ends concerns whoever observes any part of the store.
    if record?.hasTouched(Self.ledger) == true { record?.loseEverything() }
    for observer in observers {
      if let changes = record?.changes(for: observer) {
        woken += observer.merge(changes)
      } else if record?.hasTouched(observer.model) ?? true {
        // It came when the transaction had begun.
        woken += observer.lose()
      }
    }
  }

  /// Tells the observers of another process's commit; says whether there was one.
  private func check(_ observers: [CommitObserver], _ woken: inout [CheckedContinuation<Void, Never>]) throws
    -> Bool
  {
    guard let outside else { return false }
    do {
      guard try outside.check() else { return false }
    } catch let error as PersistenceError where error.code == .busy {
      // Another process is about to commit: the next question is answered.
      return false
    }
    for observer in observers { woken += observer.lose() }
    return true
  }
}

extension CommitObservers {
  /// Whether commits of other processes can be told.
  package var noticesOutsideCommits: Bool { outside != nil }

  /// Begins to tell an observer of commits.
  package func add(_ observer: CommitObserver) throws {
    try observers.withLock { observers in
      if observers.isEmpty { _ = try outside?.check() }
      observers.append(observer)
      observed.store(true, ordering: .releasing)
    }
  }

  /// Tells an observer of nothing more.
  package func remove(_ observer: CommitObserver) {
    observers.withLock { observers in
      observers.removeAll { $0 === observer }
      guard observers.isEmpty else { return }
      observed.store(false, ordering: .releasing)
      outside?.rest()
    }
  }

  /// The store's newest state, and what changed since the observer last looked: all that shows in the state, and nothing
  /// that does not.
  ///
  /// - Throws: ``PersistenceError``.
  package func look(_ observer: CommitObserver, at context: any StorageContext) throws
    -> (snapshot: any StorageSnapshot, changes: KeyChanges)
  {
    var woken: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in woken { waiter.resume() } }
    return try observers.withLock { observers in
      var attempts = 0
      while true {
        _ = try check(observers, &woken)
        let snapshot = try context.snapshot()
        attempts += 1
        // Another process may have committed in between.
        let isExact = try !check(observers, &woken)
        guard isExact || attempts == 8 else { continue }
        let changes = observer.takeChanges()
        // Of one that never stops to, what came last does not show as yet: there is another look, and rather one too many.
        if !isExact { woken += observer.lose() }
        return (snapshot, changes)
      }
    }
  }

  /// Asks whether another process has committed, and tells the observers.
  package func checkOutside() throws {
    var woken: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in woken { waiter.resume() } }
    try observers.withLock { observers in
      if !observers.isEmpty { _ = try check(observers, &woken) }
    }
  }

  /// Ends every observer of the store through one context.
  ///
  /// A driver calls it when the context is closed.
  ///
  /// - Parameter context: The context that was closed.
  public func end(of context: any StorageContext) {
    let owner = ObjectIdentifier(context)
    var woken: [CheckedContinuation<Void, Never>] = []
    observers.withLock { observers in
      for observer in observers where observer.owner == owner {
        woken += observer.end()
      }
    }
    for waiter in woken { waiter.resume() }
  }

  /// How many observe the store.
  package var count: Int { observers.withLock { $0.count } }
}

/// A transaction under way, and what is noted of it while somebody observes the store.
public struct ObservedTransaction {
  /// What the closure is given.
  public let transaction: any StorageTransaction

  let record: CommitRecord?

  /// Says that writing may have changed more records than it named, as the triggers of a database do: whoever observes
  /// the store is told that anything may have changed, where the transaction has written anything.
  ///
  /// It is called before ``CommitObservers/commit(_:_:)``.
  public func mayHaveChangedMore() { record?.loseEverything() }
}
