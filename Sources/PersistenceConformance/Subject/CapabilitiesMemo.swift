import PersistenceCore
import Synchronization

/// The capabilities of a context, which are read from a new store when they are first needed.
final class CapabilitiesMemo: Sendable {
  private let known = Mutex<Capabilities?>(nil)

  /// The capabilities; several threads may read them at the same time.
  func value(_ read: () throws -> Capabilities) throws -> Capabilities {
    if let capabilities = known.withLock({ $0 }) { return capabilities }
    let capabilities = try read()
    known.withLock { $0 = capabilities }
    return capabilities
  }
}
