package import Logging
import Synchronization

/// A log that keeps its lines, with their metadata.
package final class LogRecorder: Sendable {
  private let lines = Mutex<[(level: Logger.Level, text: String)]>([])

  package init() {}

  /// A logger that writes here.
  package func logger(_ level: Logger.Level = .trace) -> Logger {
    var logger = Logger(label: "recorded") { _ in Handler(recorder: self) }
    logger.logLevel = level
    return logger
  }

  /// The lines at a level; all of them by default.
  package func lines(_ level: Logger.Level? = nil) -> [String] {
    lines.withLock { lines in lines.filter { level == nil || $0.level == level }.map(\.text) }
  }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
      let text = metadata.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
      recorder.lines.withLock { $0.append((event.level, "\(event.message) \(text)")) }
    }
  }
}
