import Foundation
import PersistenceCore
import PersistenceDriver

/// Sends what waits in an outbox, one entry after another in their order, until nothing waits.
///
/// There is one sender for a store in a process. Where several processes have one store, their senders may send an entry
/// at the same time: the remote store makes it once, by its id.
actor OutboxSender<Object: PersistentRecord> {
  let layer: JournaledLayer<Object>
  let remote: AnyDataSource<Object>
  let options: LayerOptions<Object>
  /// Is told of keys whose objects are not what they seem, for the layers beside the local one.
  let doubt: @Sendable ([RecordKey]) async -> Void

  /// Why entries are sent.
  enum Occasion {
    /// Somebody asks for it, and for what is met from now on.
    case call
    /// Something waits, and it is time to try.
    case retry
    /// A read needs what waits to have arrived; there may be many in a moment.
    case read
  }

  private var pass: Task<Result<Void, PersistenceError>, Never>?
  /// How many passes have begun.
  private var passes = 0
  private var loop: Task<Void, Never>?
  private var isKicked = false
  private var isStopped = false
  /// Whether what the pass that is under way meets counts as an attempt.
  private var isAttempt = false

  init(
    layer: JournaledLayer<Object>, remote: AnyDataSource<Object>, options: LayerOptions<Object>,
    doubt: @escaping @Sendable ([RecordKey]) async -> Void
  ) {
    (self.layer, self.remote, self.options, self.doubt) = (layer, remote, options, doubt)
  }

  /// Ends sending in the background; what waits goes on waiting in the store.
  func stop() {
    isStopped = true
    loop?.cancel()
    pass?.cancel()
  }

  /// Something waits: it is sent in the background, again and again until it has arrived.
  func kick() {
    isKicked = true
    guard loop == nil, !isStopped else { return }
    loop = Task { await self.run() }
  }

  private func run() async {
    var failures = 0
    while isKicked, !Task.isCancelled {
      isKicked = false
      do throws(PersistenceError) {
        try await sendAll(on: .retry)
        failures = 0
      } catch {
        if Task.isCancelled { break }
        isKicked = true
        failures += 1
        do { try await options.clock.sleep(for: options.outbox.delay(after: failures)) } catch { break }
      }
    }
    loop = nil
  }

  /// Sends what waits, now.
  ///
  /// - Parameter occasion: Why. Where it is a read, an error that is not known to pass does not count against its entry;
  ///   where it is a call, it is not answered with what an attempt met that had begun before.
  /// - Throws: What the first entry met that could not be sent, and still waits.
  func sendAll(on occasion: Occasion) async throws(PersistenceError) {
    let older = passes
    // Those who ask while entries are being sent wait for that, and see to what was added meanwhile.
    while let pass {
      let number = passes
      // A pass on account of a read counts from now on.
      if occasion != .read { isAttempt = true }
      let outcome = await pass.value
      if self.pass == nil || self.pass == pass { self.pass = nil }
      if occasion != .call || number > older || isStopped { try outcome.get() }
      if try await layer.use(writes: false, { try $0.countEntries(isSetAside: false) }) == 0 { return }
    }
    passes += 1
    isAttempt = occasion != .read
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
    // Killed before this, it is sent once more, and the remote store knows it by its id.
    try await layer.use { journal in
      guard try journal.current(entry) != nil else { return }
      try journal.repository.delete(OutboxRecord.self, id: entry.primaryKey)
    }
  }

  private func handle(
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [ObjectChange<Object>]
  ) async throws(PersistenceError) {
    if error.isRetryable || error.code == .unauthorized || error.code == .cancelled { throw error }
    if error.refusesChange {
      switch error.isConflict ? try await resolve(error, of: entry, changes) : .refused {
      case .done: return
      case .refused: return try await setAside(entry, changes, error)
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

  /// Takes an entry out of the queue, with the error that it met; the objects here are not relied upon any more.
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
      try layer.doubt(keys, in: journal)
    }
    await doubt(keys)
  }
}
