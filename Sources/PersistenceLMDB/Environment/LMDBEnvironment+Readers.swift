// Imported first in the module: otherwise, the compiler attributes `stat` to Dispatch.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

import CLMDB
import PersistenceDriver
import PersistenceDriverSupport

extension LMDBEnvironment {
  /// A reader of the newest state, for one thread; the caller releases it.
  func acquireReader() throws -> LMDBReader {
    try begin(forWriting: false, { $0.idle.popLast() }) { handle, idle in
      guard let idle else { return try LMDBReader(handle) }
      do {
        try idle.renew()
        return idle
      } catch {
        idle.close()
        throw error
      }
    }
  }

  /// Begins a transaction, and retries a few times if the store rejects it for a temporary reason.
  func begin<Prepared, Result>(
    forWriting isForWriting: Bool, _ prepare: (inout State) -> Prepared,
    _ body: (LMDBHandle, Prepared) throws -> Result
  ) throws -> Result {
    var attempts = 0
    while true {
      try awaitReopening(forWriting: isForWriting)
      let (handle, prepared) = try state.withLock { state in
        let handle = try current(&state)
        state.live += 1
        return (handle, prepare(&state))
      }
      do {
        return try body(handle, prepared)
      } catch let error as PersistenceError {
        let canRetry = recover(from: error, handle)
        state.withLock { $0.live -= 1 }
        attempts += 1
        guard canRetry, attempts < 4 else { throw error.at(location: files.directory) }
      }
    }
  }

  /// Closes a reader that cannot be reused.
  func discard(_ reader: LMDBReader) {
    reader.close()
    state.withLock { $0.live -= 1 }
  }

  /// Returns a reader for reuse.
  func release(_ reader: LMDBReader) {
    reader.reset()
    let isKept = state.withLock { $0.keepIdle(reader) }
    if !isKept { discard(reader) }
  }

  /// Registers the slots in which a context keeps idle readers, which count as active.
  func register(_ slots: LMDBReaderSlots) {
    let others = state.withLock { state in
      defer { state.slots.append(slots) }
      return state.slots.alive()
    }
    withExtendedLifetime(others) {}
  }

  /// The largest number of idle readers of a context.
  var slotLimit: Int { min(16, state.withLock { $0.handle?.idleLimit ?? 1 }) }

  /// Reclaims the idle readers of all contexts.
  private func reclaim() {
    // Released outside the lock: a session may be the last one of its store.
    let slots = state.withLock { $0.slots.alive() }.flatMap { $0.drain() }
    for slot in slots { slot.end() }
  }

  /// Waits for active readers and writers if the file has to be reopened, as for any write after a failed one.
  ///
  /// It throws the reason if results keep the file open, or if calls take longer than the store's timeout.
  func awaitReopening(forWriting isForWriting: Bool) throws {
    var deadline: ContinuousClock.Instant?
    var pause: UInt32 = 20
    while true {
      let (isSuspect, isBlocked) = state.withLock { state in
        (state.isSuspect, state.live > 0 && (state.reopenReason != nil || isForWriting && state.isSuspect))
      }
      if isSuspect || isBlocked { reclaim() }
      guard isBlocked else { return }
      let end = deadline ?? ContinuousClock.now + settings.busyTimeout
      deadline = end
      let reopenReason: PersistenceError? = state.withLock { state in
        guard state.live > 0 else { return nil }
        guard state.pinned > 0 || ContinuousClock.now >= end else { return nil }
        return state.reopenReason ?? (isForWriting && state.isSuspect ? Self.suspectError : nil)
      }
      if let reopenReason { throw reopenReason.at(location: files.directory) }
      usleep(pause)
      pause = min(pause * 2, 2_000)
    }
  }

  private static var suspectError: PersistenceError {
    PersistenceError(
      .inputOutput,
      "an earlier write failed, and the store cannot reopen while results are alive; release them and "
        + "retry")
  }

  /// Recovers from a failure to begin a transaction, if possible; returns whether to retry.
  ///
  /// The caller still counts as a user of the handle.
  func recover(from error: PersistenceError, _ handle: LMDBHandle) -> Bool {
    if error.isLMDB(MDB_MAP_RESIZED) || error.isLMDB(MDB_PANIC) {
      state.withLock { state in
        if state.handle === handle { state.reopenReason = error }
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

extension LMDBEnvironment.State {
  /// Keeps a reader that was reset for reuse; returns false if the caller has to close it.
  mutating func keepIdle(_ reader: LMDBReader) -> Bool {
    guard let handle, handle === reader.handle, idle.count < handle.idleLimit else { return false }
    live -= 1
    idle.append(reader)
    return true
  }
}

struct WeakList<Object: AnyObject> {
  private struct Reference {
    weak var object: Object?
  }

  private var references: [Reference] = []

  mutating func append(_ object: Object) { references.append(Reference(object: object)) }

  /// The live objects; removes the others from the list.
  ///
  /// The caller releases the objects outside of locks: this call may have created the last reference.
  mutating func alive() -> [Object] {
    var objects: [Object] = []
    // By index, because a copy of a weak reference is registered with its object.
    for index in references.indices { if let object = references[index].object { objects.append(object) } }
    if objects.count < references.count { references.removeAll { $0.object == nil } }
    return objects
  }
}
