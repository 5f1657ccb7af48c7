import PersistenceCore
import PersistenceDriverSupport

/// A context with a monitor of its own, which it never asks to report, and which may not know where the store is.
final class OwnMonitorContext: StorageContextWrapper {
  let wrapped: any StorageContext
  let monitor: ContextMonitor
  var isKnownComplete: Bool { monitor.isKnownComplete }

  init(_ wrapped: any StorageContext, _ monitoring: Monitoring, location: String? = nil) {
    self.wrapped = wrapped
    monitor = ContextMonitor(monitoring, location: location ?? wrapped.location)
  }
}
