import Foundation
import PersistenceCore
import PersistenceDriver

/// Sends the entries of an outbox in order, until none waits.
///
/// A process has one sender for each layered data source. Senders of several processes may send the same entry
/// at once; the remote layer applies it once, by its id.
actor OutboxSender<Object: PersistentRecord> {
  let layer: JournaledLayer<Object>
  let remote: AnyDataSource<Object>
  let options: LayerOptions<Object>
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
  private var isAttempt = false

  init(
    layer: JournaledLayer<Object>, remote: AnyDataSource<Object>, options: LayerOptions<Object>,
    markStale: @escaping @Sendable ([RecordKey]) async -> Void
  ) {
    (self.layer, self.remote, self.options, self.markStale) = (layer, remote, options, markStale)
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
    let pass = Task { () async -> Result<Void, PersistenceError> in
      do throws(PersistenceError) {
        while let entry = try await self.first() { try await self.send(entry) }
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

  private func first() async throws(PersistenceError) -> OutboxRecord? {
    try await layer.use(writes: false) { try $0.entries(isSetAside: false, limit: 1).first }
  }

  private func send(_ entry: OutboxRecord) async throws(PersistenceError) {
    let changes: [ObjectChange<Object>]
    do {
      changes = try OutboxEntry<Object>.changes(of: entry)
    } catch {
      try await setAside(entry, [], PersistenceError(of: error))
      return
    }
    let remote = remote
    let attempts = Attempts(layer: .remote, limits: options.remote, clock: options.clock)
    do {
      try await attempts.once { () async throws(PersistenceError) in
        _ = try await remote.apply(ChangeBatch(changes, id: entry.batch))
      }
    } catch {
      try await handle(error, of: entry, changes)
      return
    }
    // After a kill before this line, the entry is sent again, and the remote layer ignores it by its id.
    try await layer.use { journal in
      guard try journal.current(entry) != nil else { return }
      try journal.repository.delete(OutboxRecord.self, id: entry.primaryKey)
    }
  }

  private func handle(
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [ObjectChange<Object>]
  ) async throws(PersistenceError) {
    if error.isRetryable || error.code == .unauthorized || error.code == .cancelled { throw error }
    if error.rejectsChange {
      switch error.isConflict ? try await resolve(error, of: entry, changes) : .rejected {
      case .resolved: return
      case .rejected: return try await setAside(entry, changes, error)
      case .unexplained: break
      }
    }
    guard isAttempt else { throw error }
    let limit = options.outbox.attempts
    let isOver = try await layer.use { journal -> Bool in
      guard var current = try journal.current(entry) else { return false }
      current.attempts += 1
      try journal.repository.save(current)
      return current.attempts >= limit
    }
    guard isOver else { throw error }
    try await setAside(entry, changes, error)
  }

  /// Sets an entry aside with its error, and marks its local objects as stale.
  func setAside(
    _ entry: OutboxRecord, _ changes: [ObjectChange<Object>], _ error: PersistenceError
  ) async throws(PersistenceError) {
    let layer = layer
    let keys = changes.map(\.object.recordKey)
    try await layer.use { journal in
      guard var current = try journal.current(entry) else { return }
      current.isSetAside = true
      current.errorCode = error.code.rawValue
      current.errorMessage = error.message
      try journal.repository.save(current)
      try layer.markStale(keys, in: journal)
    }
    await markStale(keys)
  }
}
