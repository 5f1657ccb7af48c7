package import Foundation
import PersistenceDriver
import PersistencePrimitives
import Synchronization

/// The observers of one store, to which an engine reports its commits.
///
/// All contexts of a process with the same store share its observers, so the engine keeps them by the identity of the
/// store. It runs each transaction's closure with the transaction that ``begin(_:)`` returns, and commits inside
/// ``commit(_:_:)``. An unobserved write costs one flag read and an uncontended lock.
///
/// ```swift
/// let observed = observers.begin(transaction)
/// try body(observed.transaction)
/// try observers.commit(observed) { try connection.commit() }
/// ```
///
/// A commit and the first read of a new observer exclude each other, so no change is lost or reported twice. Where
/// transactions commit at the same time (``NumberedCommits``), their numbers decide which commits a read has seen.
public final class CommitObservers: Sendable {
  let observers = Lock<[CommitObserver]>([])
  /// The same observers, for transactions that begin: they must not wait for a check, which asks a server.
  private let listed = Lock<[CommitObserver]>([])
  private let observed = Atomic<Bool>(false)
  static let ledger = StoredName(ReservedModel.fillLedger)

  /// Detects commits of other processes; nil if the engine cannot.
  let outside: (any OutsideCommits)?

  /// The commits of transactions that run at the same time; nil if one of this process commits at a time.
  let parallel: ParallelCommits?

  /// Creates an empty list of observers.
  ///
  /// - Parameter outside: Detects commits of other processes; nil if there are none, or the engine cannot detect them.
  public convenience init(outside: (any OutsideCommits)? = nil) {
    self.init(outside: outside, patience: 0.05)
  }

  /// Creates an empty list of observers.
  ///
  /// - Parameters:
  ///   - outside: Detects commits of other processes; nil if there are none, or the engine cannot detect them.
  ///   - patience: How many seconds a check for ``NumberedCommits`` waits for this process to learn its numbers. On a machine
  ///     with too few processors, it waits longer.
  ///   - wait: Waits for a broadcast until a time, and returns false if the time has passed.
  package init(
    outside: (any OutsideCommits)?, patience: Double,
    wait: @escaping @Sendable (NSCondition, Date) -> Bool = { $0.wait(until: $1) }
  ) {
    self.outside = outside
    parallel = outside.flatMap { $0 as? any NumberedCommits }.map {
      ParallelCommits($0, patience: patience, wait: wait)
    }
  }

  /// Creates an empty list of observers of a store with one writer at a time.
  ///
  /// The cast that looks for ``NumberedCommits`` takes longer than reading the header of a store.
  ///
  /// - Parameter outside: Detects commits of other processes.
  package init(ofOneWriter outside: any OutsideCommits) {
    self.outside = outside
    parallel = nil
  }

  /// Whether the store has observers.
  public var isObserved: Bool { observed.load(ordering: .acquiring) }

  /// The transaction for a closure: the transaction itself or, if the store has observers, one that records changes.
  ///
  /// - Parameter transaction: A running transaction, on the thread that runs its closure.
  /// - Returns: The argument for ``commit(_:_:)``.
  public func begin(_ transaction: any StorageTransaction) -> ObservedTransaction {
    guard isObserved else { return ObservedTransaction(transaction: transaction, record: nil) }
    // An observer that comes later does not know which keys the transaction changes.
    let record = CommitRecord(listed.withLock { $0 })
    return ObservedTransaction(transaction: RecordingTransaction(transaction, record), record: record)
  }

  /// Commits, and notifies the observers.
  ///
  /// - Parameters:
  ///   - transaction: The result of ``begin(_:)``.
  ///   - body: Commits, while other writers of the process are excluded.
  /// - Throws: The closure's error.
  public func commit(_ transaction: ObservedTransaction, _ body: () throws -> Void) throws {
    var woken: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in woken { waiter.resume() } }
    try observers.withLock { observers in
      do {
        try body()
      } catch {
        // A commit that failed on the storage medium may have succeeded, so the observers read again.
        transaction.record?.discardRecordedKeys()
        tell(observers, of: transaction.record, &woken)
        throw error
      }
      guard !observers.isEmpty else { return }
      tell(observers, of: transaction.record, &woken)
      // The observers meet this error too, because they check before they read.
      _ = try? check(observers, &woken)
    }
  }

  func tell(
    _ observers: [CommitObserver], of record: CommitRecord?, _ woken: inout [CheckedContinuation<Void, Never>]
  ) {
    // The begin and end of a copy concern all observers of the store.
    if record?.hasTouched(Self.ledger) == true { record?.discardAllKeys() }
    for observer in observers {
      if let changes = record?.changes(for: observer) {
        woken += observer.merge(changes)
      } else if record?.hasTouched(observer.target.models) ?? true {
        // The observer was added, or its model changed, after the transaction began.
        woken += observer.discardKeys()
      }
      if let record, !record.changedSchemas.isEmpty {
        woken += observer.schemasChanged(record.changedSchemas)
      }
    }
  }

  /// Notifies the observers of another process's commit, and returns whether there was one; where transactions commit at
  /// the same time, of those of this process too.
  func check(_ observers: [CommitObserver], _ woken: inout [CheckedContinuation<Void, Never>]) throws
    -> Bool
  {
    guard let outside else { return false }
    do {
      if let parallel {
        let news = try parallel.numbered.newCommits()
        tell(observers, of: news, in: parallel, &woken)
        return !news.isEmpty
      }
      guard try outside.check() else { return false }
    } catch let error as PersistenceError where error.code == .busy {
      // Another process is committing; the next check detects it.
      return false
    }
    for observer in observers { woken += observer.discardKeys() }
    return true
  }
}

extension CommitObservers {
  /// Whether commits of other processes are detected.
  package var noticesOutsideCommits: Bool { outside != nil }

  package func add(_ observer: CommitObserver) throws {
    try observers.withLock { observers in
      if observers.isEmpty { _ = try outside?.check() }
      observers.append(observer)
      listed.withLock { [observers] in $0 = observers }
      observed.store(true, ordering: .releasing)
    }
  }

  package func remove(_ observer: CommitObserver) {
    observers.withLock { observers in
      observers.removeAll { $0 === observer }
      listed.withLock { [observers] in $0 = observers }
      guard observers.isEmpty else { return }
      observed.store(false, ordering: .releasing)
      outside?.reset()
      // What a running commit has registered, an observer that comes now takes for another process's.
      parallel?.removeAll()
    }
  }

  /// The newest state of the store, and exactly the changes in it since the observer's last read.
  ///
  /// - Throws: Errors of reading, and `schemaMismatch` if the request needs a mapping, or no longer has one. No change is
  ///   lost then.
  package func look(
    _ observer: CommitObserver, at context: any StorageContext
  ) throws -> (snapshot: any StorageSnapshot, changes: KeyChanges) {
    while true {
      do {
        return try ObserversLock.$isHeld.withValue(true) { try lookOnce(observer, at: context) }
      } catch is SnapshotWouldWait {
        // The writer that is in the way may wait for the lock.
        try ReadInterruption.check()
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  private func lookOnce(
    _ observer: CommitObserver, at context: any StorageContext
  ) throws -> (snapshot: any StorageSnapshot, changes: KeyChanges) {
    var woken: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in woken { waiter.resume() } }
    return try observers.withLock { observers in
      if let parallel, let exact = try look(observer, at: context, parallel, observers, &woken) {
        return exact
      }
      var attempts = 0
      while true {
        _ = try check(observers, &woken)
        let snapshot = try context.snapshot()
        attempts += 1
        // Another process may have committed since.
        let isExact = try !check(observers, &woken)
        guard isExact || attempts == 8 else { continue }
        try observer.settle(try snapshot.storedRequest(for: observer.request))
        let changes = observer.takeChanges()
        // If another process commits incessantly, the snapshot may lack its last commits, so there is another read.
        if !isExact { woken += observer.discardKeys() }
        return (snapshot, changes)
      }
    }
  }

  /// Makes the changes of an observer unknown, and wakes it: it has taken some, and could not tell them.
  package func discardKeys(of observer: CommitObserver) {
    for waiter in observer.discardKeys() { waiter.resume() }
  }

  /// Checks for commits of other processes, and notifies the observers.
  package func checkOutside() throws {
    var woken: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in woken { waiter.resume() } }
    try observers.withLock { observers in
      if !observers.isEmpty { _ = try check(observers, &woken) }
    }
  }

  /// Ends all observers of one context.
  ///
  /// A driver calls it when the context is closed.
  ///
  /// - Parameter context: The closed context.
  public func end(of context: any StorageContext) {
    let owner = ObjectIdentifier(context)
    var woken: [CheckedContinuation<Void, Never>] = []
    observers.withLock { observers in
      for observer in observers where observer.owner == owner { woken += observer.end() }
    }
    for waiter in woken { waiter.resume() }
  }

  package var count: Int { observers.withLock { $0.count } }
}

/// A running transaction, and the record of its changes if the store has observers.
public struct ObservedTransaction {
  /// The transaction for the closure.
  public let transaction: any StorageTransaction

  let record: CommitRecord?

  /// Marks the changes of all observers as unknown, if the transaction wrote anything.
  ///
  /// Call it before ``CommitObservers/commit(_:_:)`` if the writes may have changed further records, for example
  /// through triggers.
  public func mayHaveChangedMore() { record?.discardAllKeys() }
}

/// A context that reports its commits, as ``Capabilities/reportsCommits`` declares.
///
/// All contexts of a process that have one store open share its observers.
public protocol ObservableContext: StorageContext {
  /// The observers of the store's commits.
  var observers: CommitObservers { get }
}
