import Foundation
import Logging

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
