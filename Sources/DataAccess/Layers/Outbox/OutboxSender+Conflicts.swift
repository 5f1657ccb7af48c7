import Foundation
import PersistenceCore
import PersistenceDriver

extension OutboxSender {
  /// The outcome of a conflict.
  enum Resolution {
    /// The entry was sent, removed or replaced.
    case resolved
    /// The entry must be set aside.
    case rejected
    /// The entry contains nothing that could conflict; a proxy may have sent the error.
    case unexplained
  }

  /// Resolves a conflict by the policy.
  func resolve(
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [ObjectChange<Object>]
  ) async throws(PersistenceError) -> Resolution {
    guard changes.contains(where: \.isConditional) else { return .unexplained }
    switch options.conflicts {
    case .setAside: return .rejected
    case .localWins:
      try await rewrite(entry, as: changes.map(\.unconditional), here: [])
      return .resolved
    case .remoteWins:
      try await setAside(entry, changes, error, saving: try await remoteObjects(of: changes))
      return .resolved
    case .merge(let merge):
      let remoteObjects = try await remoteObjects(of: changes)
      var merged: [ObjectChange<Object>] = []
      var here: [ObjectChange<Object>] = []
      var conflicts = 0
      for change in changes {
        let key = change.object.recordKey
        let remote = remoteObjects[key]?.object
        guard try mappingErrors({ try change.conflicts(with: remote) }) else {
          merged.append(change)
          continue
        }
        conflicts += 1
        switch merge(WriteConflict(change: change, remote: remote, error: error)) {
        case .save(let object):
          merged.append(remote.map { .update(object, replacing: $0) } ?? .insert(object))
          here.append(.save(object))
        case .delete:
          merged.append(.delete(change.object))
          here.append(.delete(change.object))
        case .keepRemote:
          here.append(remote.map { .save($0) } ?? .delete(change.object))
        }
      }
      // The conflict may be over: send the entry again, up to the attempt limit.
      if conflicts == 0 { return .unexplained }
      try await rewrite(entry, as: merged, here: here)
      return .resolved
    }
  }

  struct RemoteObject: Sendable {
    var local: Object
    var object: Object?
  }

  private func remoteObjects(of changes: [ObjectChange<Object>]) async throws(PersistenceError)
    -> [RecordKey: RemoteObject]
  {
    let remote = remote
    let attempts = Attempts(layer: .remote, limits: options.remote, clock: options.clock)
    var objects: [RecordKey: RemoteObject] = [:]
    for change in changes {
      let local = change.object
      let found = try await attempts.once { () async throws(PersistenceError) in
        try await remote.find(local.primaryKey)
      }
      objects[local.recordKey] = RemoteObject(local: local, object: found)
    }
    return objects
  }

  /// Replaces the changes of an entry under a new id, and applies the outcome locally.
  private func rewrite(
    _ entry: OutboxRecord, as changes: [ObjectChange<Object>], here: [ObjectChange<Object>]
  ) async throws(PersistenceError) {
    let layer = layer
    joining.hold()
    try await layer.use { journal in
      guard try journal.replace(entry, with: changes) else { return }
      // A later local write is newer and has an entry of its own.
      let here = try here.filter { try !journal.isWaiting($0.object.recordKey, after: entry.number) }
      for change in here { try journal.repository.apply(change) }
      // An answer that arrived after the remote objects were read may be newer.
      if !here.isEmpty { try layer.markStale([], in: journal) }
    }
    await markStale(here.map(\.object.recordKey))
  }
}

extension ObjectChange {
  /// Whether the change depends on the stored object.
  var isConditional: Bool {
    switch self {
    case .insert, .update: true
    case .save, .delete: false
    }
  }

  /// Whether the change conflicts with the stored object or its absence.
  func conflicts(with stored: Object?) throws -> Bool {
    switch self {
    case .insert: stored != nil
    case .update(_, nil): stored == nil
    case .update(_, let expected?): try stored.map { try !$0.hasSameFields(as: expected) } ?? true
    case .save, .delete: false
    }
  }
}
