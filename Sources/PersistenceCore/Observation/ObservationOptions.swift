/// How a store is observed.
public struct ObservationOptions: Sendable {
  /// How many keys of changed records are remembered between two updates; beyond that an update says
  /// ``ChangeSet/unknown``.
  public var keyLimit: Int

  /// How often commits of other processes are looked for, where the engine can tell them.
  public var outsideInterval: Duration

  /// The clock of that interval.
  public var clock: any Clock<Duration>

  /// Makes options.
  ///
  /// - Parameters:
  ///   - keyLimit: How many keys are remembered; 10,000 by default.
  ///   - outsideInterval: How often other processes' commits are looked for; four times a second by default.
  ///   - clock: The clock of that interval.
  public init(
    keyLimit: Int = 10_000, outsideInterval: Duration = .milliseconds(250),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.keyLimit = max(0, keyLimit)
    self.outsideInterval = outsideInterval
    self.clock = clock
  }
}
