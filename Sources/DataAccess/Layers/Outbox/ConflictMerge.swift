import PersistenceCore
import PersistenceDriver

/// The changes of an entry after an app has merged its conflicts.
///
/// The remote layer decides about the first change of each object; later ones of the same batch follow it. So an object
/// has one conflict, with the condition of its first change and the state of its last one.
struct ConflictMerge<Object: PersistentRecord> {
  /// The changes to send, in the order of the entry.
  private(set) var changes: [ObjectChange<Object>] = []
  /// The changes of the local objects.
  private(set) var here: [ObjectChange<Object>] = []

  /// An object with a conflict.
  private struct Conflict {
    let remote: Object?
    let resolution: ConflictPolicy<Object>.Resolution
    let last: Int
  }

  /// Merges the changes that conflict with the remote objects.
  init(
    _ entry: [ObjectChange<Object>], with remoteObjects: [RecordKey: OutboxSender<Object>.RemoteObject],
    after error: PersistenceError, by merge: (WriteConflict<Object>) -> ConflictPolicy<Object>.Resolution
  ) throws {
    var last: [RecordKey: Int] = [:]
    for (index, change) in entry.enumerated() { last[change.object.recordKey] = index }
    /// The objects so far; nil for those without a conflict.
    var conflicts: [RecordKey: Conflict?] = [:]
    for (index, change) in entry.enumerated() {
      let key = change.object.recordKey
      if let known = conflicts[key] {
        if let known { follow(change, at: index, known) } else { changes.append(change) }
        continue
      }
      let (remote, end) = (remoteObjects[key]?.object, last[key] ?? index)
      guard try change.conflicts(with: remote) else {
        conflicts[key] = .some(nil)
        changes.append(change)
        continue
      }
      let whole = change.followed(by: entry[end])
      let conflict = Conflict(
        remote: remote, resolution: merge(WriteConflict(change: whole, remote: remote, error: error)),
        last: end)
      conflicts[key] = conflict
      begin(change, at: index, conflict)
      switch conflict.resolution {
      case .save(let object): here.append(.save(object))
      case .delete: here.append(.delete(change.object))
      case .keepRemote: here.append(remote.map { .save($0) } ?? .delete(change.object))
      }
    }
  }

  /// Adds the first change of an object, on condition that the remote object stays as it is.
  private mutating func begin(_ change: ObjectChange<Object>, at index: Int, _ conflict: Conflict) {
    guard case .save(let merged) = conflict.resolution else {
      return follow(change, at: index, conflict)
    }
    let object = index == conflict.last ? merged : change.object
    changes.append(conflict.remote.map { .update(object, replacing: $0) } ?? .insert(object))
  }

  /// Adds a later change of an object; the last one has the result of the merge.
  private mutating func follow(_ change: ObjectChange<Object>, at index: Int, _ conflict: Conflict) {
    switch conflict.resolution {
    case .save(let merged): changes.append(index == conflict.last ? .save(merged) : change.unconditional)
    case .delete: if index == conflict.last { changes.append(.delete(change.object)) }
    case .keepRemote: break
    }
  }
}

extension ObjectChange {
  /// The change with the condition of this one and the outcome of a later one.
  fileprivate func followed(by last: ObjectChange) -> ObjectChange {
    if case .delete = last { return last }
    return switch self {
    case .insert: .insert(last.object)
    case .update(_, let expected): .update(last.object, replacing: expected)
    case .save, .delete: .save(last.object)
    }
  }
}
