import Foundation
import PersistenceCore
import PersistenceDriver

extension OutboxSender {
  /// What became of a conflict.
  enum Resolution {
    /// The entry is done with, or is now another one.
    case done
    /// It is to be set aside.
    case refused
    /// There is nothing that it could be in conflict with: who said so may not be the store.
    case unexplained
  }

  /// Settles a conflict as the policy says.
  func resolve(
    _ error: PersistenceError, of entry: OutboxRecord, _ changes: [ObjectChange<Object>]
  ) async throws(PersistenceError) -> Resolution {
    guard changes.contains(where: \.isConditional) else { return .unexplained }
    switch options.conflicts {
    case .setAside:
      return .refused
    case .localWins:
      try await rewrite(entry, as: changes.map(\.settled), here: [])
      return .done
    case .remoteWins:
      let theirs = try await remoteObjects(of: changes)
      try await setAside(entry, changes, error)
      try await writeHere(theirs, after: entry)
      return .done
    case .merge(let merge):
      let theirs = try await remoteObjects(of: changes)
      var merged: [ObjectChange<Object>] = []
      var here: [ObjectChange<Object>] = []
      var conflicts = 0
      for change in changes {
        let key = change.object.recordKey
        let remote = theirs[key]?.object
        guard try caught({ try change.conflicts(with: remote) }) else {
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
      // Perhaps it has passed meanwhile: it is sent again, but not for ever.
      if conflicts == 0 { return .unexplained }
      try await rewrite(entry, as: merged, here: here)
      return .done
    }
  }

  struct Theirs: Sendable {
    var mine: Object
    var object: Object?
  }

  private func remoteObjects(of changes: [ObjectChange<Object>]) async throws(PersistenceError)
    -> [RecordKey: Theirs]
  {
    let remote = remote
    let attempts = Attempts(layer: .remote, limits: options.remote, clock: options.clock)
    var objects: [RecordKey: Theirs] = [:]
    for change in changes {
      let mine = change.object
      let found = try await attempts.once { () async throws(PersistenceError) in
        try await remote.find(mine.primaryKey)
      }
      objects[mine.recordKey] = Theirs(mine: mine, object: found)
    }
    return objects
  }

  /// Puts other changes in an entry's place, under a new id, and writes what came of them here.
  private func rewrite(
    _ entry: OutboxRecord, as changes: [ObjectChange<Object>], here: [ObjectChange<Object>]
  ) async throws(PersistenceError) {
    try await layer.use { journal in
      guard var current = try journal.current(entry) else { return }
      if changes.isEmpty {
        try journal.repository.delete(OutboxRecord.self, id: entry.primaryKey)
      } else {
        current.batch = UUID()
        current.changes = try LayerCoding.data(changes.map(StoredChange.init))
        try journal.repository.save(current)
      }
      // What was written here since then is newer, and is sent in its turn.
      let later = try journal.waitingKeys(after: entry.number)
      for change in here where !later.contains(change.object.recordKey) {
        try journal.repository.apply(change)
      }
    }
    await doubt(here.map(\.object.recordKey))
  }

  private func writeHere(_ theirs: [RecordKey: Theirs], after entry: OutboxRecord)
    async throws(PersistenceError)
  {
    try await layer.use { journal in
      let later = try journal.waitingKeys(after: entry.number)
      for (key, their) in theirs where !later.contains(key) {
        try journal.repository.apply(their.object.map { .save($0) } ?? .delete(their.mine))
        try journal.clearDoubt(key)
      }
    }
  }
}

extension ObjectChange {
  /// Whether the change says what has to be stored for it to be made.
  var isConditional: Bool {
    switch self {
    case .insert, .update: true
    case .save, .delete: false
    }
  }

  /// Whether the change cannot be made where something is stored, or nothing.
  func conflicts(with stored: Object?) throws -> Bool {
    switch self {
    case .insert: stored != nil
    case .update(_, nil): stored == nil
    case .update(_, let expected?): try stored.map { try !$0.hasSameFields(as: expected) } ?? true
    case .save, .delete: false
    }
  }
}
