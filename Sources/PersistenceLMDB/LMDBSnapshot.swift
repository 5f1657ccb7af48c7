import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization

/// A snapshot of the store, which lives until it is released.
///
/// Snapshots of one version share a few readers, each of which one thread at a time uses. Its lock is recursive, since a
/// closure that receives rows may read another result with the same reader.
final class LMDBSnapshot: StorageSnapshot, KeyValueReading, ByteSource {
  /// The number of the committed transaction that the snapshot shows.
  let version: Int

  private let reader: LMDBReader
  private let session: LMDBSession

  /// Takes over one share of a reader, which ends with the snapshot.
  init(_ reader: LMDBReader, _ session: LMDBSession) {
    self.reader = reader
    self.session = session
    version = reader.version
  }

  deinit { session.environment.releaseShare(of: reader) }

  var store: KeyValueStore { session.environment.store }

  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result {
    reader.users.wrappingAdd(1, ordering: .relaxed)
    reader.lock.lock()
    defer {
      reader.lock.unlock()
      reader.users.wrappingSubtract(1, ordering: .relaxed)
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
  /// A snapshot of the newest state, with a reader that others have already if no thread uses it now.
  func snapshot(_ session: LMDBSession) throws -> LMDBSnapshot {
    // Most snapshots take the lock once: it costs as much as to begin to read.
    let known: LMDBReader? = state.withLock { state in
      if let reader = state.sharedReader() { return reader }
      return state.renewedReader()
    }
    if let known { return LMDBSnapshot(known, session) }
    let reader = try acquireReader()
    state.withLock { $0.share(reader) }
    return LMDBSnapshot(reader, session)
  }

  /// Ends a snapshot's share of a reader, and releases the reader with the last one.
  func releaseShare(of reader: LMDBReader) {
    let isSuperfluous: Bool = state.withLock { state in
      reader.shares -= 1
      guard reader.shares == 0 else { return false }
      if let index = state.shared.lastIndex(where: { $0 === reader }) { state.shared.remove(at: index) }
      // Nobody finds the reader in the list any more, so nobody shares it while it is reset.
      reader.reset()
      state.pinned -= 1
      return !state.keepIdle(reader)
    }
    if isSuperfluous { discard(reader) }
  }
}

extension LMDBEnvironment.State {
  /// The largest number of readers of one version, which concurrent threads use.
  private static var sharedLimit: Int { 8 }

  /// A reader of the newest state that snapshots share, with one share more; nil if another reader serves better.
  fileprivate func sharedReader() -> LMDBReader? {
    guard let handle, !shared.isEmpty else { return nil }
    let newest = handle.newestTransaction
    let current = shared.filter { $0.version == newest }
    let idle = current.first { $0.users.load(ordering: .relaxed) == 0 }
    let isFull = current.count >= Self.sharedLimit
    let found = idle ?? (isFull ? current.min { $0.shares < $1.shares } : nil)
    found?.shares += 1
    return found
  }

  /// An idle reader, moved to the newest state and shared; nil if there is none, or if a renewal fails.
  ///
  /// Then the general way meets the reason again, and mends it or throws it.
  fileprivate mutating func renewedReader() -> LMDBReader? {
    // Otherwise, readers wait until the file has been reopened.
    guard handle != nil, !isSuspect, reopenReason == nil, let reader = idle.popLast() else { return nil }
    do {
      try reader.renew()
    } catch {
      reader.close()
      return nil
    }
    live += 1
    share(reader)
    return reader
  }

  /// Lists an active reader for the snapshots of its version, with the share of the first one.
  fileprivate mutating func share(_ reader: LMDBReader) {
    pinned += 1
    reader.shares = 1
    shared.append(reader)
  }
}
