import Foundation
import PersistenceCore
import PersistenceDriver

extension OutboxSender {
  struct RemoteObject: Sendable {
    var local: Object
    var object: Object?
  }

  func remoteObjects(of changes: [ObjectChange<Object>]) async throws(PersistenceError)
    -> [RecordKey: RemoteObject]
  {
    let remote = remote
    let attempts = Attempts(layer: .remote, limits: options.remote, clock: options.clock)
    var objects: [RecordKey: RemoteObject] = [:]
    for change in changes where objects[change.object.recordKey] == nil {
      let local = change.object
      let found = try await attempts.once { () async throws(PersistenceError) in
        try await remote.find(local.primaryKey)
      }
      objects[local.recordKey] = RemoteObject(local: local, object: found)
    }
    return objects
  }

  /// Replaces the changes of an entry under a new id, and applies the outcome locally.
  func rewrite(
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
