import Logging
import PersistenceCore

extension Monitoring {
  /// Reports nothing, because checks kill and fill stores on purpose.
  static var silent: Monitoring {
    Monitoring(logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() })
  }
}
