public import PersistenceCore

/// A write that waited in the outbox, and what the remote store turned out to hold.
public struct WriteConflict<Object: PersistentRecord>: Sendable {
  /// The change that the remote store refused.
  public let change: ObjectChange<Object>

  /// What the remote store holds under that key; nil where it holds nothing.
  public let remote: Object?

  /// Why it refused: ``PersistenceError/Code/conflict``, ``PersistenceError/Code/duplicateKey`` or
  /// ``PersistenceError/Code/notFound``.
  public let error: PersistenceError
}

/// What becomes of a change that meets something else in the remote store than it began with.
///
/// Such are a conditional update of an object that was changed, an update of one that was deleted, and an insert of one
/// that exists.
public enum ConflictPolicy<Object: PersistentRecord>: Sendable {
  /// What a merge comes to.
  public enum Resolution: Sendable {
    /// This is the object now.
    case save(Object)
    /// There is to be no object.
    case delete
    /// The remote store is right.
    case keepRemote
  }

  /// The change is set aside with its error, for the app or its user to look at; the local copy is in doubt.
  case setAside
  /// What the remote store holds is written down here too; the change is set aside with its error.
  case remoteWins
  /// The change is made, whatever the remote store holds.
  case localWins
  /// The closure says what is right, and that is sent, on condition that the remote store still holds what the closure
  /// was given.
  case merge(@Sendable (WriteConflict<Object>) -> Resolution)
}
