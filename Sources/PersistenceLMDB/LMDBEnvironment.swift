import CLMDB
import PersistenceDriver
import PersistenceKeyValue
import Synchronization

/// A store as this process has it open, once, whatever paths and contexts lead to it.
///
/// It hands out readers and the writer, and opens the file anew where that is the way on: after another process
/// has grown the map, and after a write to the medium failed. It never does so while anybody reads.
final class LMDBEnvironment: Sendable {
  let files: LMDBFiles
  let settings: LMDBSettings
  let store: KeyValueStore
  let gate = WriterGate()

  private struct State {
    var handle: LMDBHandle?
    /// How many readers and writers are in use.
    var live = 0
    var idle: [LMDBReader] = []
    var snapshots: [WeakSnapshot] = []
    /// Whether a write failed so that the environment is not to be trusted any more.
    var isSuspect = false
    var writes = 0
  }

  private struct WeakSnapshot {
    weak var snapshot: LMDBSnapshot?
  }

  /// How many readers that are not in use are kept.
  private static let idleLimit = 32
  /// How many snapshots of one version are made for threads that read at once.
  private static let snapshotLimit = 8
  /// After how many writes dead processes are looked for.
  private static let writesBetweenChecks = 256

  private let state: Mutex<State>
  private let writerLock: LMDBWriterLock?

  init(_ files: LMDBFiles, _ settings: LMDBSettings, monitor: ContextMonitor) throws {
    self.files = files
    self.settings = settings
    store = KeyValueStore(location: files.directory)
    writerLock = settings.isReadOnly ? nil : try LMDBWriterLock(directory: files.directory)
    let handle = try LMDBHandle(files, settings)
    state = Mutex(State(handle: handle))
    do {
      try prepare(handle, monitor)
    } catch {
      handle.close()
      throw error
    }
  }

  /// Makes the databases of a new store, checks those of another, and clears what dead processes left.
  private func prepare(_ handle: LMDBHandle, _ monitor: ContextMonitor) throws {
    Self.clearStaleReaders(handle, monitor)
    if try !handle.openSpaces(create: false) {
      guard try handle.isEmpty() else {
        throw PersistenceError(
          .notAStore,
          "the file holds other data than a store of this package; nothing was changed; give another path",
          location: files.directory)
      }
      guard let writerLock else {
        throw PersistenceError(
          .missingStore, "the store is empty and was never finished; open it for writing once",
          location: files.directory)
      }
      try writerLock.lock(until: .now + settings.busyTimeout, timeout: settings.busyTimeout)
      defer { writerLock.unlock() }
      // Another process may have been quicker.
      if try !handle.openSpaces(create: false) {
        _ = try handle.openSpaces(create: true)
        let writer = try LMDBTransaction(handle, .full)
        defer { writer.abort() }
        try Catalog.create(in: writer)
        try writer.commit()
        try files.synchronizeFolders()
      }
    }
    let reader = try LMDBReader(handle)
    defer { reader.close() }
    try Catalog.check(reader, location: files.directory)
  }

  /// The size of the map.
  var mapSize: Int { state.withLock { $0.handle?.mapSize ?? 0 } }

  /// Releases the snapshots of processes that have died.
  func clearStaleReaders(_ monitor: ContextMonitor) {
    state.withLock { state in
      if let handle = state.handle { Self.clearStaleReaders(handle, monitor) }
    }
  }

  private static func clearStaleReaders(_ handle: LMDBHandle, _ monitor: ContextMonitor) {
    let dead = handle.clearStaleReaders()
    if dead > 0 { monitor.recovered("the snapshots of \(dead) readers whose process had died were released") }
  }

  /// How many readers and writers are in use.
  var live: Int { state.withLock(\.live) }

  /// Closes the file; nobody reads or writes any more.
  func close() {
    state.withLock { state in
      for reader in state.idle { reader.close() }
      state.idle.removeAll()
      state.handle?.close()
      state.handle = nil
    }
  }
}

extension LMDBEnvironment {
  /// A reader that sees the newest state, for one thread, until it is given back.
  func acquireReader() throws -> LMDBReader {
    var attempts = 0
    while true {
      let (handle, idle) = try state.withLock { state in
        let handle = try current(&state)
        state.live += 1
        return (handle, state.idle.popLast())
      }
      do {
        guard let idle else { return try LMDBReader(handle) }
        do {
          try idle.renew()
          return idle
        } catch {
          idle.close()
          throw error
        }
      } catch let error as PersistenceError {
        state.withLock { $0.live -= 1 }
        attempts += 1
        guard attempts < 4, try help(error, handle) else { throw error.at(location: files.directory) }
      }
    }
  }

  /// Takes a reader back.
  func release(_ reader: LMDBReader) {
    reader.reset()
    let isKept = state.withLock { state in
      state.live -= 1
      guard state.idle.count < Self.idleLimit, state.handle === reader.handle else { return false }
      state.idle.append(reader)
      return true
    }
    if !isKept { reader.close() }
  }

  /// The handle, opened anew where that is due.
  private func current(_ state: inout State) throws -> LMDBHandle {
    if let handle = state.handle, !(state.isSuspect && state.live == 0) { return handle }
    return try reopen(&state)
  }

  private func reopen(_ state: inout State) throws -> LMDBHandle {
    for reader in state.idle { reader.close() }
    state.idle.removeAll()
    state.handle?.close()
    state.handle = nil
    let files = try files.refreshed()
    let handle = try LMDBHandle(files, settings)
    do {
      guard try handle.openSpaces(create: false) else {
        throw PersistenceError(
          .damaged, "the store's databases are gone; restore it from a copy", location: files.directory)
      }
    } catch {
      handle.close()
      throw error
    }
    state.handle = handle
    state.isSuspect = false
    return handle
  }

  /// Does what can be done about a failure to begin; says whether trying again makes sense.
  private func help(_ error: PersistenceError, _ handle: LMDBHandle) throws -> Bool {
    if error.isLMDB(MDB_MAP_RESIZED) {
      return try state.withLock { state in
        guard state.handle === handle else { return true }
        guard state.live == 0 else { return false }
        _ = try reopen(&state)
        return true
      }
    }
    guard error.isLMDB(MDB_READERS_FULL) else { return false }
    let idle = state.withLock { state in
      defer { state.idle.removeAll() }
      return state.idle
    }
    for reader in idle { reader.close() }
    return handle.clearStaleReaders() > 0 || !idle.isEmpty
  }
}

extension LMDBEnvironment {
  /// A snapshot of the newest state: one that is there already where nobody reads from it just now.
  func snapshot(_ session: LMDBSession) throws -> LMDBSnapshot {
    // What is looked at is let go outside of the lock: the last reference may be ours.
    let (shared, _): (LMDBSnapshot?, [LMDBSnapshot]) = state.withLock { state in
      guard let handle = state.handle, !state.snapshots.isEmpty else { return (nil, []) }
      let newest = handle.newestTransaction
      let alive = state.snapshots.compactMap(\.snapshot)
      let current = alive.filter { $0.version == newest && $0.isUsable(with: session) }
      let idle = current.first { !$0.isBusy }
      return (idle ?? (current.count >= Self.snapshotLimit ? current.first : nil), alive)
    }
    if let shared { return shared }
    let snapshot = LMDBSnapshot(try acquireReader(), session)
    state.withLock { state in
      state.snapshots.removeAll { $0.snapshot == nil }
      state.snapshots.append(WeakSnapshot(snapshot: snapshot))
    }
    return snapshot
  }
}

extension LMDBEnvironment {
  /// Runs a closure as the one writer of all processes; what it has not committed when it ends is undone.
  ///
  /// - Parameters:
  ///   - configuration: How long to wait, and what a commit survives.
  ///   - body: The work; it is given the writer and what commits it.
  /// - Throws: ``PersistenceError``: `busy`, `readOnly`, `storeFull` and others; and what the closure throws.
  func write(
    _ configuration: LMDBConfiguration, body: (LMDBTransaction, () throws -> Void) throws -> Void
  ) throws {
    guard let writerLock else { throw PersistenceError.readOnly(files.directory) }
    let timeout = configuration.busyTimeout
    let deadline = ContinuousClock.now + timeout
    try gate.withEntry(timeout: timeout, location: files.directory) {
      try writerLock.lock(until: deadline, timeout: timeout)
      defer { writerLock.unlock() }
      let writer = try beginWrite(configuration.synchronization)
      defer {
        writer.abort()
        state.withLock { $0.live -= 1 }
      }
      do {
        try body(writer, writer.commit)
      } catch let error as PersistenceError {
        writer.abort()
        judge(error, writer.handle)
        throw error.at(location: files.directory)
      }
    }
  }

  private func beginWrite(_ synchronization: LMDBConfiguration.Synchronization) throws -> LMDBTransaction {
    var attempts = 0
    while true {
      let (handle, isCheckDue) = try state.withLock { state in
        if state.isSuspect, state.live > 0 {
          throw PersistenceError(
            .inputOutput,
            "writing failed before, and the store can only be opened anew when no results are alive; release "
              + "them and try again", location: files.directory)
        }
        let handle = try current(&state)
        state.live += 1
        state.writes += 1
        return (handle, state.writes % Self.writesBetweenChecks == 0)
      }
      if isCheckDue { handle.clearStaleReaders() }
      do {
        return try LMDBTransaction(handle, synchronization)
      } catch let error as PersistenceError {
        state.withLock { $0.live -= 1 }
        attempts += 1
        if error.isLMDB(MDB_PANIC) { state.withLock { $0.isSuspect = true } }
        guard attempts < 4, try error.isLMDB(MDB_PANIC) || help(error, handle) else {
          throw error.at(location: files.directory)
        }
      }
    }
  }

  /// Draws the conclusions from a failed write.
  private func judge(_ error: PersistenceError, _ handle: LMDBHandle) {
    guard error.engineError?.engine == "LMDB" else { return }
    if error.isLMDB(MDB_MAP_FULL) {
      // The space that dead readers held can be used by the next transaction.
      handle.clearStaleReaders()
    } else if error.code == .inputOutput || error.isLMDB(MDB_PANIC) {
      state.withLock { $0.isSuspect = true }
    }
  }
}
