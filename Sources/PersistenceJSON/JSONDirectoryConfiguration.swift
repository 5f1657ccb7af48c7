public import PersistenceDriver

/// The options of a JSON directory.
public struct JSONDirectoryConfiguration: Sendable {
  /// The failures that a commit survives.
  public enum Synchronization: String, Sendable, CaseIterable {
    /// Power failures: a write flushes files and folders before it returns.
    case full
    /// Kills of the process, but not power failures until the next commit with ``full``, which flushes the commits
    /// before it too.
    case off
  }

  /// The failures that a commit survives; ``Synchronization/full`` by default.
  public var synchronization: Synchronization

  /// How long a writer waits for another writer, in any process; 5 seconds by default.
  public var busyTimeout: Duration

  /// Whether the store is read-only.
  ///
  /// Readers still lock `.persistence/pins` if they have permission.
  public var isReadOnly: Bool

  /// Whether to create a missing store; true by default.
  ///
  /// The parent folder must exist.
  public var createsStore: Bool

  /// Whether the store keeps the digest, size and time of each record file that it writes, so that
  /// ``JSONDirectoryContext/verify(_:)`` tells an edit by hand from damage, and names files that are gone.
  ///
  /// It is a property of the store, which all its writers follow: true begins with the files as they are, false ends it,
  /// and nil, the default, changes nothing. A commit then also writes a file of checksums for each record, with those of
  /// 1/256 of the model.
  public var checksums: Bool?

  /// The monitoring of the context.
  public var monitoring: Monitoring

  /// Called before each step of a commit, so that tests can stop there.
  package var step: @Sendable (String) throws -> Void = { _ in }

  /// Makes a configuration.
  public init(
    synchronization: Synchronization = .full, busyTimeout: Duration = .seconds(5), isReadOnly: Bool = false,
    createsStore: Bool = true, checksums: Bool? = nil, monitoring: Monitoring = Monitoring()
  ) {
    self.synchronization = synchronization
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    self.createsStore = createsStore
    self.checksums = checksums
    self.monitoring = monitoring
  }
}
