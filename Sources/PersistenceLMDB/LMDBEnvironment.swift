import CLMDB
import Foundation
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
  /// Tells the commits of other processes by the number of the newest transaction.
  let commits: CommitCounter
  let observers: CommitObservers

  private struct State {
    var handle: LMDBHandle?
    /// How many readers and writers are in use.
    var live = 0
    var idle: [LMDBReader] = []
    var snapshots: [WeakSnapshot] = []
    var lanes: [WeakLanes] = []
    /// Whether a write failed so that the environment is not to be trusted any more.
    var isSuspect = false
    var writes = 0
  }

  private struct WeakSnapshot {
    weak var snapshot: LMDBSnapshot?
  }

  private struct WeakLanes {
    weak var lanes: LMDBLanes?
  }

  /// How many readers that are not in use are kept.
  private static let idleLimit = 32
  /// How many snapshots of one version are made for threads that read at once.
  private static let snapshotLimit = 8
  /// After how many writes dead processes are looked for.
  private static let writesBetweenChecks = 256

  private let state: Lock<State>
  private let writerLock = Mutex<LMDBWriterLock?>(nil)

  init(_ files: LMDBFiles, _ settings: LMDBSettings, monitor: ContextMonitor) throws {
    self.files = files
    self.settings = settings
    let numbering = Numbering()
    commits = CommitCounter { numbering.newest }
    observers = CommitObservers(outside: commits)
    store = KeyValueStore(location: files.directory)
    state = Lock(State(handle: try Self.open(files, settings)))
    numbering.environment.withLock { $0 = Weak(environment: self) }
    clearStaleReaders(monitor)
  }

  private struct Weak {
    weak var environment: LMDBEnvironment?
  }

  /// Reads the number of the newest transaction as long as the environment lives, which holds what asks.
  private final class Numbering: Sendable {
    let environment = Lock(Weak())
    var newest: UInt64 { UInt64(environment.withLock(\.environment)?.newestTransaction ?? 0) }
  }

  /// The number of the newest committed transaction of any process.
  private var newestTransaction: Int { state.withLock { $0.handle?.newestTransaction ?? 0 } }

  /// Opens the file and makes sure that it is one of ours.
  private static func open(_ files: LMDBFiles, _ settings: LMDBSettings) throws -> LMDBHandle {
    let handle = try LMDBHandle(path: files.directory, header: files.header, settings)
    do {
      guard try handle.openSpaces(create: false) else {
        throw PersistenceError(
          .notAStore,
          "the file holds other data than a store of this package; nothing was changed; give another path",
          location: files.directory)
      }
      let reader = try LMDBReader(handle)
      defer { reader.close() }
      try Catalog.check(reader, location: files.directory)
      return handle
    } catch {
      handle.close()
      throw (error as? PersistenceError)?.at(location: files.directory) ?? error
    }
  }

  /// The size of the map.
  var mapSize: Int { state.withLock { $0.handle?.mapSize ?? 0 } }

  /// Releases the snapshots of processes that have died.
  func clearStaleReaders(_ monitor: ContextMonitor) {
    state.withLock { state in
      let dead = state.handle?.clearStaleReaders() ?? 0
      guard dead > 0 else { return }
      monitor.recovered("the snapshots of \(dead) readers whose process had died were released")
    }
  }

  /// How many readers and writers are in use.
  var live: Int { state.withLock { $0.live } }

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
      reclaimIfSuspect()
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

  /// Takes a reader back that is of no more use.
  func discard(_ reader: LMDBReader) {
    reader.close()
    state.withLock { $0.live -= 1 }
  }

  /// Learns where a context keeps readers between two reads, which count as in use.
  func register(_ lanes: LMDBLanes) {
    state.withLock { state in
      state.lanes.removeAll { $0.lanes == nil }
      state.lanes.append(WeakLanes(lanes: lanes))
    }
  }

  /// Takes back the readers that contexts keep and nobody uses.
  private func reclaim() {
    // What is taken is let go outside of the lock: a session may be the last of its store.
    let lanes = state.withLock { $0.lanes.compactMap { $0.lanes } }.flatMap { $0.drain() }
    for lane in lanes { lane.end() }
  }

  /// Makes way for opening the file anew.
  private func reclaimIfSuspect() {
    if state.withLock({ $0.isSuspect && $0.live > 0 }) { reclaim() }
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
    let handle = try Self.open(try files.refreshed(), settings)
    state.handle = handle
    state.isSuspect = false
    return handle
  }

  /// Does what can be done about a failure to begin; says whether trying again makes sense.
  private func help(_ error: PersistenceError, _ handle: LMDBHandle) throws -> Bool {
    reclaim()
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
      let alive = state.snapshots.compactMap { $0.snapshot }
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
    guard !settings.isReadOnly else { throw PersistenceError.readOnly(files.directory) }
    let timeout = configuration.busyTimeout
    let deadline = ContinuousClock.now + timeout
    try gate.withEntry(timeout: timeout, location: files.directory) {
      let writerLock = try writersLock()
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
        throw judged(error, writer.handle).at(location: files.directory)
      }
    }
  }

  /// The lock of all processes' writers, opened when this process first writes.
  private func writersLock() throws -> LMDBWriterLock {
    try writerLock.withLock { lock in
      if let lock { return lock }
      let opened = try LMDBWriterLock(directory: files.directory)
      lock = opened
      return opened
    }
  }

  private func beginWrite(_ synchronization: LMDBConfiguration.Synchronization) throws -> LMDBTransaction {
    var attempts = 0
    while true {
      reclaimIfSuspect()
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

  /// Draws the conclusions from a failed write, and says what it was.
  private func judged(_ error: PersistenceError, _ handle: LMDBHandle) -> PersistenceError {
    guard error.engineError?.engine == "LMDB" else { return error }
    if error.isLMDB(MDB_MAP_FULL) {
      // The space that dead readers held can be used by the next transaction.
      handle.clearStaleReaders()
    } else if error.isLMDB(EIO), LMDBFiles.isDiskFull(files.directory) {
      // LMDB gives this code to writes that the disk took only a part of; nothing of them counts.
      var full = LMDBFailure(code: ENOSPC, action: "commit").error()
      full.engineError = error.engineError
      return full
    } else if error.code == .inputOutput {
      state.withLock { $0.isSuspect = true }
    }
    return error
  }
}
