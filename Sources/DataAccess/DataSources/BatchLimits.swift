/// The limits of a batch that joins several writes.
///
/// See ``DataSource/batchLimits``.
public struct BatchLimits: Sendable, Hashable {
  /// The maximum number of changes, at least 1.
  public let changes: Int

  /// The maximum size of the changes, in bytes of their JSON.
  public let bytes: Int

  /// Creates limits.
  public init(changes: Int = 256, bytes: Int = 1 << 20) {
    self.changes = max(1, changes)
    self.bytes = bytes
  }
}
