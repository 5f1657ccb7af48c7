/// Which layer is written first.
public enum WritePolicy: Sendable, Hashable, Codable {
  /// The remote store, then what lies below: a write that returned is done everywhere, and without the remote store
  /// nothing is written.
  case remoteFirst
  /// The local store, which keeps the write in its outbox too, in the same transaction; the remote store gets it when it
  /// can be reached. The local store must be a ``RepositoryDataSource``.
  case localFirst
}
