public import PersistenceCore
public import PersistenceDriver

/// A position in the changes of a data source.
///
/// Its text is opaque. Store it with the objects to continue after a restart.
public struct DataSourceCheckpoint: Sendable, Hashable, Codable {
  /// The text that the data source made.
  public let text: String

  /// Creates a checkpoint from a stored text.
  public init(_ text: String) { self.text = text }
}

/// Some of the changes of a data source after a checkpoint, the oldest first.
public struct ObjectChanges<Object: PersistentRecord>: Sendable {
  /// The present states of inserted and updated objects.
  ///
  /// They can be newer than ``checkpoint``, and are then told again.
  public var saved: [Object]
  /// The keys of deleted objects, known to the receiver or not.
  public var deleted: [RecordKey]
  /// The position after these changes.
  public var checkpoint: DataSourceCheckpoint
  /// Whether more changes follow ``checkpoint``.
  public var hasMore: Bool
  /// Whether changes before ``checkpoint`` are unknown, so that only fetching all objects brings them up to date.
  public var isReset: Bool

  /// Creates changes.
  public init(
    saved: [Object] = [], deleted: [RecordKey] = [], checkpoint: DataSourceCheckpoint, hasMore: Bool = false,
    isReset: Bool = false
  ) {
    (self.saved, self.deleted, self.checkpoint) = (saved, deleted, checkpoint)
    (self.hasMore, self.isReset) = (hasMore, isReset)
  }
}

/// A data source that can tell what has changed since a checkpoint, such as a server.
///
/// Get a checkpoint before you fetch the objects: the changes since then miss nothing (contract D1).
public protocol ChangeTrackingDataSource<Object>: DataSource where Failure == PersistenceError {
  /// The changes since a checkpoint.
  ///
  /// - Parameters:
  ///   - checkpoint: The checkpoint; nil for no changes and the present checkpoint.
  ///   - limit: The maximum number of changed objects; nil for as many as the data source returns at once.
  /// - Returns: The changes; see ``ObjectChanges/hasMore``.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/checkpointExpired`` if some changes since the
  ///   checkpoint are unknown: get a new checkpoint, and then all objects. Code
  ///   ``PersistenceError/Code/unsupported`` if the data source does not track changes.
  func changes(since checkpoint: DataSourceCheckpoint?, limit: Int?) async throws(PersistenceError)
    -> ObjectChanges<Object>

  /// The changes since a checkpoint, and further ones when they happen, over one connection.
  ///
  /// The first element comes at once, even without changes. The sequence ends with nil when the other side closes the
  /// connection. ``followedChanges(since:options:)`` connects again.
  ///
  /// - Parameter checkpoint: The checkpoint; nil for changes from now on.
  /// - Returns: The changes. An element with ``ObjectChanges/isReset`` shows that some are unknown.
  func changeEvents(since checkpoint: DataSourceCheckpoint?) -> DataSourceStream<ObjectChanges<Object>>
}

extension ChangeTrackingDataSource {
  /// The changes since a checkpoint, as many as the data source returns at once.
  public func changes(since checkpoint: DataSourceCheckpoint?) async throws(PersistenceError)
    -> ObjectChanges<
      Object
    >
  {
    try await changes(since: checkpoint, limit: nil)
  }
}
