import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization

/// A store that this process has opened, once for all paths and contexts.
///
/// It provides readers and the writer. It reopens the file after another process has grown the map and after
/// a failed write, but never while a reader or writer is active.
final class LMDBEnvironment: Sendable {
  let files: LMDBFiles
  let settings: LMDBSettings
  let store: KeyValueStore
  let gate = WriterGate()
  /// Detects commits of other processes by the number of the newest transaction.
  let commits: CommitCounter
  let observers: CommitObservers

  struct State {
    var handle: LMDBHandle?
    /// The number of active readers and writers; each decrements it after its last use of the handle.
    var live = 0
    /// The number of active readers that belong to snapshots, whose lifetime is unlimited.
    var pinned = 0
    var idle: [LMDBReader] = []
    /// The readers of live snapshots.
    ///
    /// A list of the snapshots themselves would refer to them weakly, which makes each of their reference counts slower.
    var shared: [LMDBReader] = []
    var slots = WeakList<LMDBReaderSlots>()
    /// Whether a failed write requires that the file is reopened.
    var isSuspect = false
    /// The error that requires a reopened file: another process has grown the map, or LMDB has given up the
    /// environment.
    var reopenReason: PersistenceError?
    var writes = 0

    mutating func closeHandle() {
      for reader in idle { reader.close() }
      idle.removeAll()
      handle?.close()
      handle = nil
    }
  }

  let state: Lock<State>
  let writerLock = Mutex<LMDBWriterLock?>(nil)

  init(_ files: LMDBFiles, _ settings: LMDBSettings, monitor: ContextMonitor) throws {
    self.files = files
    self.settings = settings
    let counter = TransactionCounter()
    commits = CommitCounter { counter.newest }
    observers = CommitObservers(ofOneWriter: commits)
    store = KeyValueStore(
      location: files.directory,
      indexBuilding: IndexBuilding(memory: settings.indexMemory, folder: files.directory))
    state = Lock(State(handle: try Self.open(files, settings, monitor)))
    counter.environment.withLock { $0 = Weak(environment: self) }
  }

  private struct Weak {
    weak var environment: LMDBEnvironment?
  }

  /// Reads the number of the newest transaction; refers weakly to the environment, which owns the commit
  /// counter.
  private final class TransactionCounter: Sendable {
    let environment = Lock(Weak())
    var newest: UInt64 { UInt64(environment.withLock(\.environment)?.newestTransaction ?? 0) }
  }

  /// The number of the newest committed transaction of any process.
  ///
  /// The header of the file has the number of a commit before readers get it, so it serves only where no reader can begin.
  private var newestTransaction: Int {
    let isWriter = gate.isEnteredByThisThread
    // Under the lock, since nothing else keeps the environment open.
    return state.withLock { state in
      guard let handle = state.handle else { return 0 }
      if isWriter { return handle.newestTransaction }
      do {
        let reader = try state.idle.popLast().map(Self.renewed) ?? LMDBReader(handle)
        defer {
          reader.reset()
          state.idle.append(reader)
        }
        return reader.version
      } catch {
        // The next reader reopens the file.
        if let error = error as? PersistenceError, error.isLMDB(MDB_MAP_RESIZED) || error.isLMDB(MDB_PANIC) {
          state.reopenReason = error
        }
        return handle.newestTransaction
      }
    }
  }

  private static func renewed(_ reader: LMDBReader) throws -> LMDBReader {
    do {
      try reader.renew()
      return reader
    } catch {
      reader.close()
      throw error
    }
  }

  private static func open(
    _ files: LMDBFiles, _ settings: LMDBSettings, _ monitor: ContextMonitor? = nil
  ) throws -> LMDBHandle {
    let handle = try LMDBHandle(
      path: files.directory, header: files.header, lock: files.lock, settings)
    // Before the first reader: dead processes may occupy all reader slots.
    let dead = handle.clearStaleReaders()
    report(dead, to: monitor)
    do {
      try checkPages(handle, files, settings.checks, wasAbandoned: dead > 0)
      guard try handle.openSpaces(create: false) else {
        throw PersistenceError(
          .notAStore,
          "the file contains data that this package did not write; it was not changed; use another path",
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

  var mapSize: Int { state.withLock { $0.handle?.mapSize ?? 0 } }

  /// Releases the reader slots of dead processes.
  func clearStaleReaders(_ monitor: ContextMonitor) {
    Self.report(state.withLock { $0.handle?.clearStaleReaders() ?? 0 }, to: monitor)
  }

  private static func report(_ dead: Int, to monitor: ContextMonitor?) {
    guard dead > 0 else { return }
    monitor?.recovered("released the reader slots of \(dead) readers of dead processes")
  }

  var live: Int { state.withLock { $0.live } }

  /// Closes the file; no readers or writers are active.
  func close() { state.withLock { $0.closeHandle() } }

  /// The handle, reopened if required and unused.
  func current(_ state: inout State) throws -> LMDBHandle {
    if let handle = state.handle, state.live > 0 || !(state.isSuspect || state.reopenReason != nil) {
      return handle
    }
    state.closeHandle()
    let handle = try Self.open(try files.refreshed(), settings)
    state.handle = handle
    (state.isSuspect, state.reopenReason) = (false, nil)
    return handle
  }
}

/// The open stores of this process, by the identity of their files.
///
/// LMDB must not open a file twice in a process: closing one of the two would release the locks of both.
enum LMDBRegistry {
  private struct Entry {
    let environment: LMDBEnvironment
    var sessions: Int
  }

  private static let entries = Mutex<[FileIdentity: Entry]>([:])

  /// Opens a store, or joins the contexts that have it open.
  static func open(_ path: String, _ configuration: LMDBConfiguration, _ monitor: ContextMonitor) throws
    -> LMDBSession
  {
    let (session, isShared) = try entries.withLock { entries in
      let files = try LMDBFiles(path: path, configuration)
      if var entry = entries[files.identity] {
        guard configuration.isReadOnly || !entry.environment.settings.isReadOnly else {
          throw PersistenceError.readOnly(files.directory)
        }
        if let wanted = configuration.mapSize, wanted > entry.environment.mapSize {
          throw PersistenceError(
            .invalidRequest,
            "this process has opened the store with a map of \(entry.environment.mapSize) bytes, which cannot grow "
              + "to \(wanted) while it is open; close the other context first", location: files.directory)
        }
        entry.environment.clearStaleReaders(monitor)
        entry.sessions += 1
        entries[files.identity] = entry
        return (LMDBSession(entry.environment), true)
      }
      // Locks of a file belong to a process: a second environment with the same lock file would release those of the first.
      if !entries.isEmpty, let lock = files.lockIdentity,
        entries.values.contains(where: { $0.environment.state.withLock { $0.handle?.lock == lock } })
      {
        throw PersistenceError(
          .busy,
          "data.mdb was replaced while this process had the store open; close the contexts of the earlier file, release "
            + "their results, and open the path again", location: files.directory)
      }
      let (prepared, settings) = try files.prepared(configuration)
      let environment = try LMDBEnvironment(prepared, settings, monitor: monitor)
      entries[files.identity] = Entry(environment: environment, sessions: 1)
      return (LMDBSession(environment), false)
    }
    // Outside the lock, which the end of a session takes.
    if isShared, configuration.checks == .structure { try session.environment.checkAllPages() }
    return session
  }

  fileprivate static func leave(_ environment: LMDBEnvironment) {
    entries.withLock { entries in
      let identity = environment.files.identity
      guard var entry = entries[identity], entry.environment === environment else { return }
      entry.sessions -= 1
      if entry.sessions > 0 {
        entries[identity] = entry
      } else {
        entries[identity] = nil
        environment.close()
      }
    }
  }
}

/// A share in an open store.
///
/// The context holds one until it closes, every snapshot as long as it lives, and every call while it runs.
/// The store closes with the last session.
final class LMDBSession: Sendable {
  let environment: LMDBEnvironment

  fileprivate init(_ environment: LMDBEnvironment) { self.environment = environment }

  deinit { LMDBRegistry.leave(environment) }
}
