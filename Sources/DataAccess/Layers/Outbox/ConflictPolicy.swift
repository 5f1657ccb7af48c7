public import PersistenceCore

/// A conflict of an outbox write with the remote layer.
public struct WriteConflict<Object: PersistentRecord>: Sendable {
  /// The rejected change.
  public let change: ObjectChange<Object>

  /// The remote object of that key; nil if there is none.
  public let remote: Object?

  /// The reason: ``PersistenceError/Code/conflict``, ``PersistenceError/Code/duplicateKey`` or
  /// ``PersistenceError/Code/notFound``.
  public let error: PersistenceError
}

/// What to do with a change that conflicts with the remote layer.
///
/// Conflicts are a conditional update of a changed object, an update of a deleted object, and an insertion of
/// an existing one.
public enum ConflictPolicy<Object: PersistentRecord>: Sendable {
  /// The result of a merge.
  public enum Resolution: Sendable {
    /// Save this object.
    case save(Object)
    /// Delete the object.
    case delete
    /// Keep the remote object.
    case keepRemote
  }

  /// Set the change aside with its error, for the app or its user. The local copy is stale.
  case setAside
  /// Save the remote object locally, and set the change aside with its error.
  case remoteWins
  /// Apply the change unconditionally.
  case localWins
  /// Send the result of the closure, on condition that the remote object has not changed since.
  case merge(@Sendable (WriteConflict<Object>) -> Resolution)
}
