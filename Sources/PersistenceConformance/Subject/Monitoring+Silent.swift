import Logging
import PersistenceCore

extension Monitoring {
  /// Nothing is reported: checks make stores that are killed and filled on purpose.
  static var silent: Monitoring {
    Monitoring(logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() })
  }
}
