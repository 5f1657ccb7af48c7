import Logging
import PersistenceCore

extension Monitoring {
  /// Logs nothing, because checks kill and fill stores on purpose.
  ///
  /// A page that a plain loop cannot read fails the check, and does not end the process.
  static var silent: Monitoring { Monitoring(logger: quietLogger, readFailureHandler: CheckTrace.noteUnread) }

  /// Logs nothing; a page that a plain loop cannot read ends the process, as in an app.
  static var worker: Monitoring { Monitoring(logger: quietLogger) }

  private static var quietLogger: Logger { Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() } }
}
