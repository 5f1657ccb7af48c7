public import PersistenceDriver

/// How a JSON directory is opened.
public struct JSONDirectoryConfiguration: Sendable {
  /// What a commit survives.
  public enum Synchronization: String, Sendable, CaseIterable {
    /// The loss of power: files and folders are synchronised before a write returns.
    case full
    /// The kill of the process, but not the loss of power.
    case off
  }

  /// What a commit survives; ``Synchronization/full`` by default.
  public var synchronization: Synchronization

  /// How long a writer waits for another, of this process or another one; 5 seconds by default.
  public var busyTimeout: Duration

  /// Whether the store may only be read.
  ///
  /// Reading still takes locks on `.persistence/pins`, where it may.
  public var isReadOnly: Bool

  /// Whether a store is made where there is none; true by default.
  ///
  /// The folder above must exist.
  public var createsStore: Bool

  /// What is watched and where it is reported.
  public var monitoring: Monitoring

  /// Called before each step of a commit, by tests of what a kill leaves behind.
  package var step: @Sendable (String) throws -> Void = { _ in }

  /// Makes a configuration.
  public init(
    synchronization: Synchronization = .full, busyTimeout: Duration = .seconds(5), isReadOnly: Bool = false,
    createsStore: Bool = true, monitoring: Monitoring = Monitoring()
  ) {
    self.synchronization = synchronization
    self.busyTimeout = busyTimeout
    self.isReadOnly = isReadOnly
    self.createsStore = createsStore
    self.monitoring = monitoring
  }
}
