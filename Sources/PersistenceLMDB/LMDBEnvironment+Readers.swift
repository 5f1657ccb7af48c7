import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport

extension LMDBEnvironment {
  /// A reader that sees the newest state, for one thread, until it is given back.
  func acquireReader() throws -> LMDBReader {
    var attempts = 0
    while true {
      try awaitWay(forWriting: false)
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
        let isWorthAnother = help(error, handle)
        state.withLock { $0.live -= 1 }
        attempts += 1
        guard isWorthAnother, attempts < Self.attemptLimit else { throw error.at(location: files.directory) }
      }
    }
  }

  /// How often something is begun that the store refuses for a reason that passes.
  static var attemptLimit: Int { 4 }

  /// Takes a reader back that is of no more use.
  func discard(_ reader: LMDBReader) {
    reader.close()
    state.withLock { $0.live -= 1 }
  }

  /// Takes a reader back.
  func release(_ reader: LMDBReader) { release(reader, wasPinned: false) }

  func release(_ reader: LMDBReader, wasPinned: Bool) {
    reader.reset()
    let isKept = state.withLock { state in
      if wasPinned { state.pinned -= 1 }
      guard let handle = state.handle, handle === reader.handle, state.idle.count < handle.idleLimit else {
        return false
      }
      state.live -= 1
      state.idle.append(reader)
      return true
    }
    if !isKept { discard(reader) }
  }

  /// Learns where a context keeps readers between two reads, which count as in use.
  func register(_ lanes: LMDBReaderSlots) {
    let others = state.withLock { state in
      defer { state.lanes.append(lanes) }
      return state.lanes.alive()
    }
    withExtendedLifetime(others) {}
  }

  /// How many readers a context keeps between two reads at most.
  var laneLimit: Int { min(16, state.withLock { $0.handle?.idleLimit ?? 1 }) }

  /// Takes back the readers that contexts keep and nobody uses.
  private func reclaim() {
    // What is taken is let go outside of the lock: a session may be the last of its store.
    let lanes = state.withLock { $0.lanes.alive() }.flatMap { $0.drain() }
    for lane in lanes { lane.end() }
  }

  /// Waits for calls under way, where the file has to be opened anew before anything else begins.
  ///
  /// - Parameter isForWriting: Whether something is to be written, which a failure to write stands in the way of.
  /// - Throws: What stands in the way, where results hold the file, or calls take longer than the store's timeout.
  func awaitWay(forWriting isForWriting: Bool) throws {
    let deadline = ContinuousClock.now + settings.busyTimeout
    var pause: UInt32 = 20
    while true {
      let (isSuspect, isBlocked) = state.withLock { state in
        (state.isSuspect, state.live > 0 && (state.obstacle != nil || isForWriting && state.isSuspect))
      }
      if isSuspect || isBlocked { reclaim() }
      guard isBlocked else { return }
      let obstacle: PersistenceError? = state.withLock { state in
        guard state.live > 0 else { return nil }
        guard state.pinned > 0 || ContinuousClock.now >= deadline else { return nil }
        return state.obstacle ?? (isForWriting && state.isSuspect ? Self.suspicion : nil)
      }
      if let obstacle { throw obstacle.at(location: files.directory) }
      usleep(pause)
      pause = min(pause * 2, 2_000)
    }
  }

  private static var suspicion: PersistenceError {
    PersistenceError(
      .inputOutput,
      "writing failed before, and the store can only be opened anew when no results are alive; release them and "
        + "try again")
  }

  /// Does what can be done about a failure to begin; says whether trying again makes sense.
  ///
  /// Whoever asks still counts among the users of the handle.
  func help(_ error: PersistenceError, _ handle: LMDBHandle) -> Bool {
    if error.isLMDB(MDB_MAP_RESIZED) || error.isLMDB(MDB_PANIC) {
      state.withLock { state in
        if state.handle === handle { state.obstacle = error }
      }
      return true
    }
    guard error.isLMDB(MDB_READERS_FULL) else { return false }
    reclaim()
    let idle = state.withLock { state in
      defer { state.idle.removeAll() }
      return state.idle
    }
    for reader in idle { reader.close() }
    return handle.clearStaleReaders() > 0 || !idle.isEmpty
  }
}
