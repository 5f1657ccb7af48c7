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
      try await setAside(
        entry, changes.map(\.object.recordKey), error, saving: try await remoteObjects(of: changes))
      return .resolved
    case .merge(let merge):
      let remoteObjects = try await remoteObjects(of: changes)
      let merged = try mappingErrors {
        try ConflictMerge(changes, with: remoteObjects, after: error, by: merge)
      }
      // The conflict may be over: send the entry again, up to the attempt limit.
      if merged.here.isEmpty { return .unexplained }
      try await rewrite(entry, as: merged.changes, here: merged.here)
      return .resolved
    }
  }
}
