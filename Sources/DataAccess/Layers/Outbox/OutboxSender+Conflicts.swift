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
}
