import PersistenceDriver

/// Commits of transactions that run at the same time.
extension CommitObservers {
  /// Commits a transaction beside others, and notifies the observers of it once.
  ///
  /// - Parameters:
  ///   - transaction: The result of ``begin(_:)``.
  ///   - body: Commits, and returns whether the transaction has written anything. It passes the number to its argument
  ///     as soon as it knows it; several transactions that are committed as one have one number. A check that finds a number
  ///     waits a moment for those that are not known yet, and takes it for another process's if it is none of them.
  /// - Throws: The closure's error.
  package func commit(
    _ transaction: ObservedTransaction, _ body: (_ register: CommitRegistration) throws -> Bool
  ) throws {
    guard let record = transaction.record, let parallel else {
      // Nobody observed the store when the transaction began.
      if try body(.unobserved), isObserved { parallel?.search.take { [self] in tellNews() } }
      return
    }
    let commit = parallel.begin(record)
    let hasWritten: Bool
    do {
      // The registration has ended one with a number.
      defer { if commit.number == nil { parallel.end(commit) } }
      hasWritten = try body(CommitRegistration(commit, in: parallel))
    } catch {
      if commit.number != nil, !parallel.take(commit) { throw error }
      if Self.mayHaveSucceeded(error) {
        record.discardRecordedKeys()
        notify { tell($0, of: record, &$1) }
      }
      throw error
    }
    guard hasWritten, isObserved else {
      parallel.take(commit)
      return
    }
    // Another thread may have found the commit meanwhile.
    if commit.number == nil || parallel.isPending(commit) {
      parallel.search.take { [self] in tellNews() }
    }
  }

  /// Notifies the observers of all commits that no check has found yet.
  func tellNews() {
    notify { observers, woken in
      guard !observers.isEmpty else { return }
      do {
        _ = try check(observers, &woken)
      } catch {
        // The observers meet this error too, because they check before they read.
        for observer in observers { woken += observer.discardKeys() }
      }
    }
  }

  /// The number of commits of this process that no check has found yet.
  package var pendingCount: Int { parallel?.count ?? 0 }

  /// Whether a commit that failed may be in the store.
  private static func mayHaveSucceeded(_ error: any Error) -> Bool {
    guard let error = error as? PersistenceError else { return true }
    return error.code == .outcomeUnknown
  }

  private func notify(_ body: ([CommitObserver], inout [CheckedContinuation<Void, Never>]) -> Void) {
    var woken: [CheckedContinuation<Void, Never>] = []
    observers.withLock { body($0, &woken) }
    for waiter in woken { waiter.resume() }
  }

  /// Notifies the observers of commits.
  func tell(
    _ observers: [CommitObserver], of news: NewCommits, in parallel: ParallelCommits,
    _ woken: inout [CheckedContinuation<Void, Never>]
  ) {
    let found = parallel.take(found: news.numbers.sorted())
    let own = Array(found.joined())
    if let first = own.first, own.count == 1 {
      tell(observers, of: first.record, &woken)
    } else {
      for commit in own where commit.record.hasTouched(Self.ledger) { commit.record.discardAllKeys() }
      for observer in observers { woken += tell(observer, of: own) }
    }
    // The others are those of other processes.
    guard !news.isWhole || found.contains(where: \.isEmpty) else { return }
    for observer in observers { woken += observer.discardKeys() }
  }

  /// Notifies an observer of several commits.
  private func tell(_ observer: CommitObserver, of commits: [PendingCommit])
    -> [CheckedContinuation<Void, Never>]
  {
    var changes = ConcurrentChanges(limit: observer.keyLimit)
    var woken: [CheckedContinuation<Void, Never>] = []
    for commit in commits {
      let record = commit.record
      if let known = record.changes(for: observer) {
        changes.add(known, of: commit.transaction)
      } else if record.hasTouched(observer.target.models) {
        woken += observer.discardKeys()
      }
      if !record.changedSchemas.isEmpty { woken += observer.schemasChanged(record.changedSchemas) }
    }
    return woken + observer.merge(changes.all)
  }

  /// Reads a snapshot, and the commits that it sees; nil if the numbers of its commits cannot be read.
  func look(
    _ observer: CommitObserver, at context: any StorageContext, _ parallel: ParallelCommits,
    _ observers: [CommitObserver], _ woken: inout [CheckedContinuation<Void, Never>]
  ) throws -> (snapshot: any StorageSnapshot, changes: KeyChanges)? {
    let snapshot = try context.snapshot()
    guard let news = try parallel.numbered.newCommits(seenBy: snapshot.innermost) else { return nil }
    tell(observers, of: news, in: parallel, &woken)
    try observer.settle(try snapshot.storedRequest(for: observer.request))
    return (snapshot, observer.takeChanges())
  }
}

extension StorageSnapshot {
  /// The snapshot of the engine, if this wraps one.
  fileprivate var innermost: any StorageSnapshot {
    var snapshot: any StorageSnapshot = self
    while let wrapper = snapshot as? any StorageSnapshotWrapper { snapshot = wrapper.wrapped }
    return snapshot
  }
}
