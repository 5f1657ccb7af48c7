package import Foundation
package import PersistenceDriver
import Logging

/// What a command works with: where it writes, which engines it knows, and whether it was asked to stop.
package final class ToolSession {
  /// Results: nothing but what the command is for.
  let output: ByteOutput
  /// Everything else: progress, warnings, errors.
  let messages: ByteOutput
  /// The engines that URLs may name.
  let engines: [StorageEngine]
  /// The tool's own executable, which is started as a second process where a command needs one; nil where there is
  /// none.
  let executable: URL?
  private let isInterrupted: @Sendable () -> Bool

  /// Makes a session.
  ///
  /// - Parameters:
  ///   - output: Where results go.
  ///   - messages: Where everything else goes.
  ///   - engines: The engines that URLs may name, beside `memory:`.
  ///   - executable: The tool's own executable.
  ///   - isInterrupted: Whether the user has asked to stop.
  package init(
    output: ByteOutput, messages: ByteOutput, engines: [StorageEngine], executable: URL? = nil,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    self.output = output
    self.messages = messages
    self.engines = engines
    self.executable = executable
    self.isInterrupted = isInterrupted
  }

  /// Throws where the user has asked to stop.
  func checkInterrupt() throws {
    if isInterrupted() { throw ToolFailure.interrupted }
  }

  /// Says something to the user, beside the result.
  func say(_ text: String) throws {
    try messages.line(text)
    try messages.flush()
  }

  /// What contexts report, as lines among the messages: warnings, and more where it is asked for.
  func monitoring(isVerbose: Bool) -> Monitoring {
    var logger = Logger(label: "persistence") { _ in MessageLogHandler() }
    logger.logLevel = isVerbose ? .info : .warning
    return Monitoring(logger: logger)
  }
}
