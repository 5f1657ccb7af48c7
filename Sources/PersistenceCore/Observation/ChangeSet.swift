public import PersistenceDriver
import PersistenceDriverSupport

/// The changes since the previous update, by primary key.
public enum ChangeSet: Sendable, Hashable {
  /// The first update, which has no predecessor.
  case first

  /// Exactly these records changed.
  case keys(ChangedKeys)

  /// Any record may have changed: another process committed, there were too many changes to track, or another version
  /// of the app changed the schema.
  case unknown
}

/// The keys of changed records, relative to the observed condition.
///
/// Changes of one record between two updates are coalesced: a record that was inserted and then updated is inserted,
/// and one that was inserted and then deleted is omitted. The query's limit and offset do not matter.
public struct ChangedKeys: Sendable, Hashable {
  /// Records that match the condition now, and did not before: they were inserted, or updated to match.
  public var inserted: Set<RecordKey>

  /// Records that were written, and match the condition before and after.
  public var updated: Set<RecordKey>

  /// Records that matched the condition before and do not now: they were deleted, or updated.
  public var deleted: Set<RecordKey>

  /// Creates a set of keys.
  public init(inserted: Set<RecordKey> = [], updated: Set<RecordKey> = [], deleted: Set<RecordKey> = []) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  /// The number of keys.
  public var count: Int { inserted.count + updated.count + deleted.count }
}

extension ChangeSet {
  init(_ changes: KeyChanges) {
    guard !changes.isUnknown else {
      self = .unknown
      return
    }
    var keys = ChangedKeys()
    for (key, entry) in changes.entries {
      switch (entry.matchedBefore, entry.matchesNow) {
      case (true, true): keys.updated.insert(key)
      case (true, false): keys.deleted.insert(key)
      case (false, _): keys.inserted.insert(key)
      }
    }
    self = .keys(keys)
  }

  /// The keys; nil for the first update, and if they are unknown.
  public var keys: ChangedKeys? {
    if case .keys(let keys) = self { keys } else { nil }
  }
}

extension RecordKey {
  /// The value of a single-field key, as the type that a model declares.
  ///
  /// ```swift
  /// for key in changes.inserted { print(try key.value(as: Movie.PrimaryKey.self)) }
  /// ```
  ///
  /// - Parameter type: The type of the model's primary key.
  /// - Returns: The key.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the key has several fields,
  ///   and ``PersistenceError/Code/damaged`` if its value does not have the type.
  public func value<Key: PersistentKey & PersistentValueConvertible>(as type: Key.Type) throws -> Key {
    guard values.count == 1 else {
      throw PersistenceError.invalidRequest(
        "the key \(self) has \(values.count) fields, but \(type) has one")
    }
    return try Key.converted(from: values[0])
  }
}
