import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization

/// A snapshot of the store, which lives until it is released.
///
/// One thread at a time reads from it. The lock is recursive, since a closure that receives rows may read
/// another result of the same snapshot.
final class LMDBSnapshot: StorageSnapshot, KeyValueReading, ByteSource {
  /// The number of the committed transaction that the snapshot shows.
  let version: Int

  private let reader: LMDBReader
  private let session: LMDBSession
  private let lock = NSRecursiveLock()
  private let users = Atomic<Int>(0)

  init(_ reader: LMDBReader, _ session: LMDBSession) {
    self.reader = reader
    self.session = session
    version = reader.version
  }

  deinit { session.environment.release(reader, wasPinned: true) }

  /// Whether a thread is reading from it.
  var isBusy: Bool { users.load(ordering: .relaxed) > 0 }

  /// Whether a session may use the snapshot, which keeps only its own store open.
  func isUsable(with other: LMDBSession) -> Bool { other.environment === session.environment }

  var store: KeyValueStore { session.environment.store }

  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result {
    users.wrappingAdd(1, ordering: .relaxed)
    lock.lock()
    defer {
      lock.unlock()
      users.wrappingSubtract(1, ordering: .relaxed)
    }
    return try body(reader)
  }

  // Called for each record and fetch, so not through the generic half.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try withReader { try store.find(key, in: schema, $0, body) }
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults { try store.results(request, self) }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try store.results(request, selecting: positions, self)
  }
}

extension LMDBEnvironment {
  /// The largest number of snapshots of one version, which concurrent threads use.
  private static var snapshotLimit: Int { 8 }

  /// A snapshot of the newest state: an existing one if it is idle.
  func snapshot(_ session: LMDBSession) throws -> LMDBSnapshot {
    // Released outside the lock: this may be the last reference.
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
}
