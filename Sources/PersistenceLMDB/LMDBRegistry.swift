import PersistenceDriver
import Synchronization

/// The stores that this process has open, by the identity of their files.
///
/// LMDB must not open a file twice in a process: closing one of the two would drop the locks of both.
enum LMDBRegistry {
  private struct Entry {
    let environment: LMDBEnvironment
    var sessions: Int
  }

  private static let entries = Mutex<[FileIdentity: Entry]>([:])

  /// Opens a store, or joins whoever has it open.
  static func open(_ path: String, _ configuration: LMDBConfiguration, _ monitor: ContextMonitor) throws
    -> LMDBSession
  {
    try entries.withLock { entries in
      let files = try LMDBFiles(path: path, configuration)
      if var entry = entries[files.identity] {
        guard configuration.isReadOnly || !entry.environment.settings.isReadOnly else {
          throw PersistenceError.readOnly(files.directory)
        }
        if let wanted = configuration.mapSize, wanted > entry.environment.mapSize {
          throw PersistenceError(
            .invalidRequest,
            "this process has the store open with a map of \(entry.environment.mapSize) bytes, which cannot grow "
              + "to \(wanted) while it is open; close the other context first", location: files.directory)
        }
        entry.environment.clearStaleReaders(monitor)
        entry.sessions += 1
        entries[files.identity] = entry
        return LMDBSession(entry.environment)
      }
      let (prepared, settings) = try files.prepared(configuration)
      let environment = try LMDBEnvironment(prepared, settings, monitor: monitor)
      entries[files.identity] = Entry(environment: environment, sessions: 1)
      return LMDBSession(environment)
    }
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

/// One context's share in an open store.
///
/// The context holds it until it is closed, every snapshot as long as it lives, and every call while it runs. The
/// store is closed when nobody holds one any more.
final class LMDBSession: Sendable {
  let environment: LMDBEnvironment

  fileprivate init(_ environment: LMDBEnvironment) { self.environment = environment }

  deinit { LMDBRegistry.leave(environment) }
}
