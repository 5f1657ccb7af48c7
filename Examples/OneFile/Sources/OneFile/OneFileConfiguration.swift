/// The settings of a ``OneFileContext``.
public struct OneFileConfiguration: Sendable, Hashable {
  /// How long a writer waits for another writer before it throws `busy` (contract W6).
  public var busyTimeout: Duration = .seconds(5)

  /// Whether the store opens read-only.
  public var isReadOnly = false

  /// Whether a missing store is created.
  public var creates = true

  /// Creates the default settings: read-write, and a missing store is created.
  public init() {}
}
