public import Logging

/// What a context is told to watch, and where it reports.
///
/// Values of a user are logged at debug level and below only.
public struct Monitoring: Sendable {
  /// Where opening, recovery, slow requests and long-held results are reported.
  public var logger: Logger

  /// Requests that take longer are reported with their plan.
  public var slowRequest: Duration

  /// Results that pin a snapshot for longer are reported with the place that made them, since they keep the
  /// store from reusing space.
  public var longHeldResult: Duration

  /// Called when reading a page fails in the middle of a plain `for` over a result, which then ends.
  ///
  /// Where it is nil, the program is stopped with the error's message (contract R4); the throwing routes of a result
  /// throw instead, in either case.
  public var readFailureHandler: (@Sendable (PersistenceError) -> Void)?

  /// Makes a statement of what to watch.
  ///
  /// - Parameters:
  ///   - logger: Where reports go; the default has the label `persistence`.
  ///   - slowRequest: How long a request may take; 1 second by default.
  ///   - longHeldResult: How long a result may pin a snapshot; 60 seconds by default.
  ///   - readFailureHandler: What is done when a plain iteration meets a failure.
  public init(
    logger: Logger = Logger(label: "persistence"), slowRequest: Duration = .seconds(1),
    longHeldResult: Duration = .seconds(60),
    readFailureHandler: (@Sendable (PersistenceError) -> Void)? = nil
  ) {
    self.logger = logger
    self.slowRequest = slowRequest
    self.longHeldResult = longHeldResult
    self.readFailureHandler = readFailureHandler
  }
}
