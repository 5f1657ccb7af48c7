import Foundation
import PersistenceCore
import PersistenceDriver

/// Sends what waits in an outbox, one entry after another in their order, until nothing waits.
///
/// There is one sender for a store in a process. Where several processes have one store, their senders may send an entry
/// at the same time: the remote store makes it once, by its id.
actor OutboxSender<Object: PersistentRecord> {
  private let layer: JournaledLayer<Object>
  private let remote: AnyStore<Object>
  private let options: LayerOptions<Object>
  /// Is told of keys whose objects are not what they seem, for the layers beside the local one.
  private let doubt: @Sendable ([RecordKey]) async -> Void

  private var pass: Task<Result<Void, PersistenceError>, Never>?
  private var loop: Task<Void, Never>?
  private var isKicked = false

  init(
    layer: JournaledLayer<Object>, remote: AnyStore<Object>, options: LayerOptions<Object>,
    doubt: @escaping @Sendable ([RecordKey]) async -> Void
  ) {
    (self.layer, self.remote, self.options, self.doubt) = (layer, remote, options, doubt)
  }

  /// Ends sending in the background; what waits goes on waiting in the store.
  func stop() {
    loop?.cancel()
    pass?.cancel()
  }

  /// Something waits: it is sent in the background, again and again until it has arrived.
  func kick() {
    isKicked = true
    guard loop == nil else { return }
    loop = Task { await self.run() }
  }

  private func run() async {
    var failures = 0
    while isKicked, !Task.isCancelled {
      isKicked = false
      do throws(PersistenceError) {
        try await sendAll()
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
  /// - Throws: What the first entry met that could not be sent, and still waits.
  func sendAll() async throws(PersistenceError) {
    // Those who ask while entries are being sent wait for that, and see to what was added meanwhile.
    while let pass {
      let outcome = await pass.value
      if self.pass == nil || self.pass == pass { self.pass = nil }
      try outcome.get()
      if try await layer.use(writes: false, { try $0.countEntries(isSetAside: false) }) == 0 { return }
    }
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
    let changes: [StoreChange<Object>]
    do {
      changes = try OutboxEntry<Object>.changes(of: entry)
    } catch {
      try await setAside(entry, [], (error as? PersistenceError) ?? PersistenceError(foreign: error))
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
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [StoreChange<Object>]
  ) async throws(PersistenceError) {
    if error.isRetryable || error.code == .unauthorized || error.code == .cancelled { throw error }
    if error.refusesChange {
      if error.isConflict, try await resolve(error, of: entry, changes) { return }
      try await setAside(entry, changes, error)
      return
    }
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
  private func setAside(
    _ entry: OutboxRecord, _ changes: [StoreChange<Object>], _ error: PersistenceError
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

  // MARK: Conflicts

  /// Settles a conflict as the policy says.
  ///
  /// - Returns: Whether the entry is done with, or is now another one; false where it is to be set aside.
  private func resolve(
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [StoreChange<Object>]
  ) async throws(PersistenceError) -> Bool {
    switch options.conflicts {
    case .setAside:
      return false
    case .localWins:
      try await rewrite(entry, as: changes.map(\.settled), here: [])
      return true
    case .remoteWins:
      let theirs = try await remoteObjects(of: changes)
      try await setAside(entry, changes, error)
      try await writeHere(theirs, after: entry)
      return true
    case .merge(let merge):
      let theirs = try await remoteObjects(of: changes)
      var merged: [StoreChange<Object>] = []
      var here: [StoreChange<Object>] = []
      for change in changes {
        let key = change.object.recordKey
        let remote = theirs[key]?.object
        guard try caught({ try change.conflicts(with: remote) }) else {
          merged.append(change)
          continue
        }
        switch merge(WriteConflict(change: change, remote: remote, error: error)) {
        case .save(let object):
          merged.append(remote.map { .update(object, replacing: $0) } ?? .insert(object))
          here.append(.save(object))
        case .delete:
          merged.append(.delete(change.object))
          here.append(.delete(change.object))
        case .keepRemote:
          here.append(remote.map { .save($0) } ?? .delete(change.object))
        }
      }
      try await rewrite(entry, as: merged, here: here)
      return true
    }
  }

  private struct Theirs: Sendable {
    var mine: Object
    var object: Object?
  }

  private func remoteObjects(of changes: [StoreChange<Object>]) async throws(PersistenceError)
    -> [RecordKey: Theirs]
  {
    let remote = remote
    let attempts = Attempts(layer: .remote, limits: options.remote, clock: options.clock)
    var objects: [RecordKey: Theirs] = [:]
    for change in changes {
      let mine = change.object
      let found = try await attempts.once { () async throws(PersistenceError) in
        try await remote.find(mine.primaryKey)
      }
      objects[mine.recordKey] = Theirs(mine: mine, object: found)
    }
    return objects
  }

  /// Puts other changes in an entry's place, under a new id, and writes what came of them here.
  private func rewrite(
    _ entry: OutboxRecord, as changes: [StoreChange<Object>], here: [StoreChange<Object>]
  ) async throws(PersistenceError) {
    try await layer.use { journal in
      guard var current = try journal.current(entry) else { return }
      if changes.isEmpty {
        try journal.repository.delete(OutboxRecord.self, id: entry.primaryKey)
      } else {
        current.batch = UUID()
        current.changes = try LayerCoding.data(changes.map(StoredChange.init))
        try journal.repository.save(current)
      }
      // What was written here since then is newer, and is sent in its turn.
      let later = try journal.waitingKeys(after: entry.number)
      for change in here where !later.contains(change.object.recordKey) {
        try journal.repository.apply(change)
      }
    }
    await doubt(here.map(\.object.recordKey))
  }

  private func writeHere(_ theirs: [RecordKey: Theirs], after entry: OutboxRecord)
    async throws(PersistenceError)
  {
    try await layer.use { journal in
      let later = try journal.waitingKeys(after: entry.number)
      for (key, their) in theirs where !later.contains(key) {
        try journal.repository.apply(their.object.map { .save($0) } ?? .delete(their.mine))
        try journal.clearDoubt(key)
      }
    }
  }
}

extension StoreChange {
  /// Whether the change cannot be made where something is stored, or nothing.
  func conflicts(with stored: Object?) throws -> Bool {
    switch self {
    case .insert: stored != nil
    case .update(_, nil): stored == nil
    case .update(_, let expected?): try stored.map { try !$0.hasSameFields(as: expected) } ?? true
    case .save, .delete: false
    }
  }
}
