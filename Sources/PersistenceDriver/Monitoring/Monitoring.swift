public import Logging

/// The settings of a context's monitor.
///
/// User values are logged at debug level and below only.
public struct Monitoring: Sendable {
  /// The logger for opening, recovery, slow requests and long-held results.
  public var logger: Logger

  /// The duration after which a request is reported, with its plan.
  public var slowRequest: Duration

  /// The duration after which a result that pins a snapshot is reported, with its call site.
  ///
  /// Such results prevent the store from reusing space.
  public var longHeldResult: Duration

  /// The closure that is called if a page cannot be read during a plain `for` over a result; the iteration then ends.
  ///
  /// If it is nil, the program stops with the error's message (contract R4). The throwing methods of a result throw in
  /// either case.
  public var readFailureHandler: (@Sendable (PersistenceError) -> Void)?

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - logger: The logger; the default has the label `persistence`.
  ///   - slowRequest: The duration after which a request is slow; 1 second by default.
  ///   - longHeldResult: The duration after which a result is long-held; 60 seconds by default.
  ///   - readFailureHandler: Called if a plain iteration cannot read a page.
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

/// A call site in the sources, for reports.
@usableFromInline
package struct CallSite: Sendable, Hashable, CustomStringConvertible {
  package var fileID: String
  package var line: UInt

  /// By default the call site of the caller.
  @usableFromInline
  package init(fileID: String = #fileID, line: UInt = #line) {
    self.fileID = fileID
    self.line = line
  }

  /// The call site as text, such as `Module/File.swift:12`.
  @usableFromInline package var description: String { "\(fileID):\(line)" }
}
