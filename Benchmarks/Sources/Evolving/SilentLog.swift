import Logging

/// A log handler that discards everything, so that logging is not measured.
struct SilentLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .critical

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {}
}
