import CLMDB
import Foundation
import PersistenceDriver
import PersistenceKeyValue
import Synchronization
import PersistenceDriverSupport

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

  struct State {
    var handle: LMDBHandle?
    /// How many readers and writers are in use: each lowers it when it is done with the handle, not before.
    var live = 0
    /// How many of them are held for as long as somebody likes: those of snapshots.
    var pinned = 0
    var idle: [LMDBReader] = []
    var snapshots = WeakList<LMDBSnapshot>()
    var lanes = WeakList<LMDBReaderSlots>()
    /// Whether a write failed so that the environment is not to be trusted any more.
    var isSuspect = false
    /// Why nothing can begin before the file is opened anew: another process has grown the map, or LMDB has given the
    /// environment up.
    var obstacle: PersistenceError?
    var writes = 0
  }

  let state: Lock<State>
  let writerLock = Mutex<LMDBWriterLock?>(nil)

  init(_ files: LMDBFiles, _ settings: LMDBSettings, monitor: ContextMonitor) throws {
    self.files = files
    self.settings = settings
    let numbering = Numbering()
    commits = CommitCounter { numbering.newest }
    observers = CommitObservers(outside: commits)
    store = KeyValueStore(
      location: files.directory,
      indexBuilding: IndexBuilding(memory: settings.indexMemory, folder: files.directory))
    state = Lock(State(handle: try Self.open(files, settings, monitor)))
    numbering.environment.withLock { $0 = Weak(environment: self) }
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
  private static func open(
    _ files: LMDBFiles, _ settings: LMDBSettings, _ monitor: ContextMonitor? = nil
  ) throws -> LMDBHandle {
    let handle = try LMDBHandle(path: files.directory, header: files.header, settings)
    // Before the first reader: those who died may have left no place for one.
    report(handle.clearStaleReaders(), to: monitor)
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
    Self.report(state.withLock { $0.handle?.clearStaleReaders() ?? 0 }, to: monitor)
  }

  private static func report(_ dead: Int, to monitor: ContextMonitor?) {
    guard dead > 0 else { return }
    monitor?.recovered("the snapshots of \(dead) readers whose process had died were released")
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

  /// The handle, opened anew where that is due and nobody uses it.
  func current(_ state: inout State) throws -> LMDBHandle {
    if let handle = state.handle, state.live > 0 || !(state.isSuspect || state.obstacle != nil) {
      return handle
    }
    for reader in state.idle { reader.close() }
    state.idle.removeAll()
    state.handle?.close()
    state.handle = nil
    let handle = try Self.open(try files.refreshed(), settings)
    state.handle = handle
    (state.isSuspect, state.obstacle) = (false, nil)
    return handle
  }
}
