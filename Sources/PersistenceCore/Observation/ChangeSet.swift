public import PersistenceDriver
import PersistenceDriverSupport

/// What has changed between an update and the one before, by primary key.
public enum ChangeSet: Sendable, Hashable {
  /// The first update: nothing comes before it.
  case first

  /// Exactly these records have changed.
  case keys(ChangedKeys)

  /// Anything may have changed: another process has committed, or there were too many changes to remember each.
  case unknown
}

/// The keys of records that have changed, as seen by the condition that is observed.
///
/// Several changes of one record between two updates are one: a record that was inserted and then updated was inserted,
/// and one that was inserted and then deleted does not show at all. Limit and offset of a query play no part.
public struct ChangedKeys: Sendable, Hashable {
  /// Records that fit the condition now and did not before: most were inserted, others were updated so that they fit.
  public var inserted: Set<RecordKey>

  /// Records that fitted the condition before and do now, and were written in between.
  public var updated: Set<RecordKey>

  /// Records that fitted the condition before and do not now: they were deleted, or updated so that they do not fit.
  public var deleted: Set<RecordKey>

  /// Makes a set of keys.
  public init(inserted: Set<RecordKey> = [], updated: Set<RecordKey> = [], deleted: Set<RecordKey> = []) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  /// How many keys there are.
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
      switch (entry.fittedBefore, entry.fitsNow) {
      case (true, true): keys.updated.insert(key)
      case (true, false): keys.deleted.insert(key)
      case (false, _): keys.inserted.insert(key)
      }
    }
    self = .keys(keys)
  }

  /// The keys; nil for the first update and where they are not known.
  public var keys: ChangedKeys? {
    if case .keys(let keys) = self { return keys }
    return nil
  }
}

extension RecordKey {
  /// The key of one field as the type that a model declares.
  ///
  /// ```swift
  /// for key in changes.inserted { print(try key.value(as: Movie.PrimaryKey.self)) }
  /// ```
  ///
  /// - Parameter type: The type of the model's primary key.
  /// - Returns: The key.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where the key has several fields,
  ///   and ``PersistenceError/Code/damaged`` where its value is none of the type.
  public func value<Key: PersistentKey & PersistentValueConvertible>(as type: Key.Type) throws -> Key {
    guard values.count == 1, let value = values.first else {
      throw PersistenceError.invalidRequest(
        "the key \(self) has \(values.count) fields, and \(type) is of one")
    }
    let row = RowBuffer(count: 1)
    row.set(value, at: 0)
    return try row.withRow { try Key.read(from: $0, at: 0) }
  }
}
