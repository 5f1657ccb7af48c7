import PersistenceDriver

/// A snapshot around another one, which changes some of what it does and hands everything else on.
///
/// It holds the wrapped snapshot, and so the store's state, for as long as it lives.
public protocol StorageSnapshotWrapper: StorageSnapshot, StorageReaderWrapper {
  /// The snapshot that calls are handed on to.
  var wrapped: any StorageSnapshot { get }
}

extension StorageSnapshotWrapper {
  /// The wrapped snapshot.
  public var wrappedReader: any StorageReader { wrapped }
}
