import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// Sends the entries of an outbox in order, until none waits; several in one request if the remote layer allows it.
///
/// A process has one sender for each layered data source. Senders of several processes may send the same entry
/// at once; the remote layer applies it once, by its id.
actor OutboxSender<Object: PersistentRecord> {
  let layer: JournaledLayer<Object>
  let remote: AnyDataSource<Object>
  let options: LayerOptions<Object>
  private let breaker: CircuitBreaker
  private let log: WriteLog
  private let dates: SteadyDate
  /// Marks keys as stale in the layers beside the local one.
  let markStale: @Sendable ([RecordKey]) async -> Void

  /// The reason for sending.
  enum Reason {
    /// A caller asks for it, and for the outcome of an attempt from now on.
    case explicit
    /// The delay is over.
    case retry
    /// A read needs the outbox to be empty; such reads can be frequent.
    case read
  }

  private var pass: Task<Result<Void, PersistenceError>, Never>?
  /// The number of passes that have started.
  private var passes = 0
  private var loop: Task<Void, Never>?
  private var isWoken = false
  private var isStopped = false
  /// Whether failures of the pass in flight count as attempts.
  private(set) var isAttempt = false
  /// Whether entries have passed a stuck one in the last pass.
  var hasOvertaken = false
  /// Whether the remote layer has applied a batch in the last pass.
  private(set) var hasSent = false
  /// How many entries join in one batch.
  var joining = JoiningLimit()

  init(
    layer: JournaledLayer<Object>, remote: AnyDataSource<Object>, options: LayerOptions<Object>,
    breaker: CircuitBreaker, log: WriteLog, dates: SteadyDate,
    markStale: @escaping @Sendable ([RecordKey]) async -> Void
  ) {
    (self.layer, self.remote, self.options, self.markStale) = (layer, remote, options, markStale)
    (self.breaker, self.log, self.dates) = (breaker, log, dates)
  }

  /// Stops sending in the background.
  ///
  /// The entries keep waiting.
  func stop() {
    isStopped = true
    loop?.cancel()
    pass?.cancel()
  }

  /// Starts sending in the background, with retries until the outbox is empty.
  func wake() {
    isWoken = true
    guard loop == nil, !isStopped else { return }
    loop = Task { await self.run() }
  }

  private func run() async {
    var failures = 0
    while isWoken, !Task.isCancelled {
      isWoken = false
      do throws(PersistenceError) {
        try await sendAll(for: .retry)
        failures = 0
      } catch {
        if Task.isCancelled { break }
        isWoken = true
        failures += 1
        // New entries should not wait long for one that fails alone.
        if hasOvertaken { failures = min(failures, Self.failuresBeforeOvertaking) }
        do { try await options.clock.sleep(for: options.outbox.delay(after: failures)) } catch { break }
      }
    }
    loop = nil
  }

  /// Sends the waiting entries now.
  ///
  /// - Parameter reason: The reason. For a read, an error that is not retryable does not count as an attempt.
  ///   An explicit call ignores the outcome of a pass that started before it.
  /// - Throws: The error of the first entry that could not be sent and still waits.
  func sendAll(for reason: Reason) async throws(PersistenceError) {
    let older = passes
    // Wait for the pass in flight, and then send what was added meanwhile.
    while let pass {
      let number = passes
      // From now on, the pass that a read started counts as an attempt.
      if reason != .read { isAttempt = true }
      let outcome = await pass.value
      if self.pass == nil || self.pass == pass { self.pass = nil }
      if reason != .explicit || number > older || isStopped { try outcome.get() }
      if try await layer.use(writes: false, { try $0.countEntries(isSetAside: false) }) == 0 { return }
    }
    passes += 1
    isAttempt = reason != .read
    (hasOvertaken, hasSent) = (false, false)
    let pass = Task { () async -> Result<Void, PersistenceError> in
      do throws(PersistenceError) {
        while let batch = try await self.next() {
          do throws(PersistenceError) {
            try await self.send(batch)
          } catch {
            // An entry that fails alone is set aside, and the next one is first.
            guard let entry = batch.alone, try await self.overtake(entry, after: error) else { throw error }
          }
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    self.pass = pass
    let outcome = await pass.value
    if self.pass == pass { self.pass = nil }
    try outcome.get()
  }

  /// The first waiting entries, as many as one request may contain; nil if none waits.
  private func next() async throws(PersistenceError) -> OutboxBatch<Object>? {
    let limits = limits
    switch try await layer.use(writes: false, { try $0.firstBatch() }) {
    case .nothing: return nil
    case .claimed(let batch): return batch
    case .unclaimed: return try await layer.use { try $0.claim(upTo: limits) }
    }
  }

  /// Sends a batch, and removes its entries or sets them aside.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - isFirst: Whether no earlier entry waits. Otherwise a rejection is not final, since it may depend on them.
  /// - Throws: The error, if an entry of the batch still waits and cannot be sent now.
  func send(_ batch: OutboxBatch<Object>, isFirst: Bool = true) async throws(PersistenceError) {
    for entry in batch.entries {
      if case .failure(let error) = entry.changes { try await setAside(entry.record, entry.allKeys, error) }
    }
    if batch.isRevoked || (batch.isJoint && !batch.entries.allSatisfy(\.isReadable)) {
      try await revoke(batch)
      // Its entries wait again, and those behind them for them.
      if !isFirst { throw PersistenceError(.busy, "a batch of the outbox was separated; try again") }
      return
    }
    guard batch.entries.contains(where: \.isReadable) else { return }
    let changes = batch.readableChanges
    let isNew: Bool
    do {
      isNew = try await apply(changes, id: batch.id)
    } catch  where error.code == .batchReused {
      // The remote layer applied the batch before, in the words of another schema, or it was revoked.
      return try await remove(batch, isStale: true)
    } catch {
      guard let entry = batch.alone else { return try await settle(batch, after: error, isFirst: isFirst) }
      if isFirst { return try await handle(error, of: entry.record, changes) }
      // Out of order, a rejection may be due to an earlier entry.
      _ = try await record(error, of: entry.record, isFirst: false)
      throw error
    }
    joining.succeed()
    hasSent = true
    // After a kill before this line, the batch is sent again, and the remote layer ignores it by its id. Answers from
    // between the two may have had newer objects, which the waiting entries kept out.
    try await remove(batch, isStale: !isNew)
  }

  /// Sends one request; it returns whether this request applied the changes.
  func apply(_ changes: [ObjectChange<Object>], id: UUID) async throws(PersistenceError) -> Bool {
    let remote = remote
    let attempts = Attempts(layer: .remote, limits: options.remote, clock: options.clock)
    let isNew = try await attempts.once { () async throws(PersistenceError) in
      try await remote.apply(ChangeBatch(changes, id: id))
    }
    breaker.close()
    return isNew
  }

  /// Removes the entries of a batch that the remote layer has, and marks their objects as stale if it may have other
  /// values.
  ///
  /// An answer to an earlier question may lack the changes, and no waiting entry keeps it out any more. A change that an
  /// entry kept out may be newer than the entry.
  func remove(_ batch: OutboxBatch<Object>, isStale: Bool) async throws(PersistenceError) {
    let (layer, keys) = (layer, batch.entries.flatMap(\.keys))
    log.begin(keys, at: dates.now())
    defer { log.end(keys, storedIn: [], isAcknowledged: true) }
    let stale = try await layer.use { journal -> [RecordKey] in
      var (stale, isRemoved) = ([RecordKey](), false)
      let missed = try isStale ? [] : journal.missedKeys(of: batch.entries)
      for entry in batch.entries {
        guard let current = try journal.current(entry.record), current.joint == entry.record.joint else {
          continue
        }
        // The id may be that of the revocation by another process.
        if isStale, current.isRevoked == true, !batch.isRevoked { continue }
        // The request did not contain an entry that the declaration cannot read.
        if !isStale, current.isSetAside { continue }
        if current.isReplaced {
          try journal.separate(current)
          continue
        }
        try journal.delete(current)
        isRemoved = true
        if isStale { stale += entry.keys }
      }
      // A later entry of the key replaces the missed change too.
      for key in missed where try !journal.isWaiting(key) { stale.append(key) }
      // A new generation tells other processes.
      if isRemoved { _ = try journal.advance(by: layer.writer) }
      if !stale.isEmpty { try layer.markStale(stale, in: journal) }
      return stale
    }
    if !stale.isEmpty { await markStale(stale) }
  }

  private func handle(
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [ObjectChange<Object>]
  ) async throws(PersistenceError) {
    if error.code == .cancelled { throw error }
    let keys = changes.map(\.object.recordKey)
    if error.rejectsChange {
      switch error.isConflict ? try await resolve(error, of: entry, changes) : .rejected {
      case .resolved: return
      case .rejected: return try await setAside(entry, keys, error)
      case .unexplained: break
      }
    }
    guard let current = try await record(error, of: entry), isAttempt, !error.mayPass,
      current.attempts >= options.outbox.attempts
    else { throw error }
    try await setAside(entry, keys, error)
  }

  /// Records a failed attempt in its entry.
  ///
  /// The failures of reads do not count, since reads can be frequent.
  ///
  /// - Returns: The entry; nil if it is gone or replaced.
  func record(
    _ error: PersistenceError, of entry: OutboxRecord, isFirst: Bool = true
  ) async throws(PersistenceError) -> OutboxRecord? {
    if error.code == .cancelled { throw error }
    let isAttempt = isAttempt
    if !isAttempt, entry.errorCode == error.code.rawValue, entry.errorMessage == error.message {
      return entry
    }
    return try await layer.use { journal in
      guard var current = try journal.current(entry) else { return nil }
      current.keep(error)
      if isAttempt {
        current.failures = (current.failures ?? 0) + 1
        if isFirst, !error.mayPass { current.attempts += 1 }
      }
      try journal.repository.save(current)
      return current
    }
  }

  /// Sets an entry aside with its error, and marks its local objects as stale.
  ///
  /// In the same transaction, it stores the remote objects instead, if given: after it, a refresh may store newer ones.
  func setAside(
    _ entry: OutboxRecord, _ keys: [RecordKey], _ error: PersistenceError,
    saving remoteObjects: [RecordKey: RemoteObject] = [:]
  ) async throws(PersistenceError) {
    let layer = layer
    try await layer.use { journal in
      let parts = try journal.waitingParts(of: entry)
      guard try journal.setAside(entry, error) else { return }
      try layer.markStale(keys, in: journal)
      try journal.markStale(parts: parts)
      for (key, remote) in remoteObjects where try !journal.isWaiting(key, after: entry.number) {
        try journal.repository.apply(remote.object.map { .save($0) } ?? .delete(remote.local))
        try journal.clearStale(key)
      }
    }
    await markStale(keys)
  }
}
