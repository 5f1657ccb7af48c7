import PersistenceDriver
import PersistenceDriverSupport

extension LMDBEnvironment {
  /// How many snapshots of one version are made for threads that read at once.
  private static var snapshotLimit: Int { 8 }

  /// A snapshot of the newest state: one that is there already where nobody reads from it just now.
  func snapshot(_ session: LMDBSession) throws -> LMDBSnapshot {
    // What is looked at is let go outside of the lock: the last reference may be ours.
    let (shared, _): (LMDBSnapshot?, [LMDBSnapshot]) = state.withLock { state in
      let alive = state.snapshots.alive()
      guard let handle = state.handle, !alive.isEmpty else { return (nil, alive) }
      let newest = handle.newestTransaction
      let current = alive.filter { $0.version == newest && $0.isUsable(with: session) }
      let idle = current.first { !$0.isBusy }
      return (idle ?? (current.count >= Self.snapshotLimit ? current.first : nil), alive)
    }
    if let shared { return shared }
    let reader = try acquireReader()
    let snapshot = LMDBSnapshot(reader, session)
    state.withLock { state in
      state.pinned += 1
      state.snapshots.append(snapshot)
    }
    return snapshot
  }

  /// Takes the reader of a snapshot back.
  func endSnapshot(_ reader: LMDBReader) { release(reader, wasPinned: true) }
}
