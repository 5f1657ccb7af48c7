package import Foundation
import Logging
package import PersistenceDriver

/// The environment of a command: outputs, engines and interruption.
package final class ToolSession {
  let output: ByteOutput
  /// The output for progress, warnings and errors.
  let messages: ByteOutput
  let engines: [StorageEngine]
  /// The tool's own executable, for commands that need a second process; nil if unknown.
  let executable: URL?
  private let isInterrupted: @Sendable () -> Bool

  /// Creates a session.
  ///
  /// `engines` need not contain `memory:`. `isInterrupted` returns whether the user interrupted the tool.
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

  /// Throws if the user interrupted the tool.
  func checkInterrupt() throws {
    if isInterrupted() { throw ToolFailure.interrupted }
  }

  /// Prints a result as a table or as JSON.
  func print(
    _ result: some Encodable, as format: ResultFormat, table: (ByteOutput) throws -> Void
  ) throws {
    switch format {
    case .table: try table(output)
    case .json: try output.line(JSONReport.text(result))
    }
  }

  func say(_ text: String) throws {
    try messages.line(text)
    try messages.flush()
  }

  /// A monitor that prints the contexts' warnings, and informational messages if verbose.
  func monitoring(isVerbose: Bool) -> Monitoring {
    var logger = Logger(label: "persistence") { _ in MessageLogHandler() }
    logger.logLevel = isVerbose ? .info : .warning
    return Monitoring(logger: logger)
  }
}
