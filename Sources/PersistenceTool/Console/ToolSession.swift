import Dispatch
package import Foundation
import Logging
package import PersistenceDriver
import Synchronization

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

/// Detects that the user interrupts the tool with SIGINT.
package final class Interruption: Sendable {
  private let requests = Atomic<Int>(0)
  nonisolated(unsafe) private let source:  // only retained; never used after init
    any DispatchSourceSignal

  /// Starts to handle SIGINT.
  package init() {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global(qos: .userInteractive))
    source.setEventHandler { [weak self] in
      guard let count = self?.requests.add(1, ordering: .relaxed).newValue, count > 1 else { return }
      _exit(ToolFailure.Exit.interrupted.rawValue)
    }
    source.activate()
  }

  /// Whether the user interrupted the tool.
  package var isRequested: Bool { requests.load(ordering: .relaxed) > 0 }
}

/// Writes log messages to standard error, one per line.
struct MessageLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .warning

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let details = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    let line = TerminalText.safe("\(event.level): \(event.message)\(details.isEmpty ? "" : " [\(details)]")")
    // Ignore failures; `write(_:)` would end the process.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
