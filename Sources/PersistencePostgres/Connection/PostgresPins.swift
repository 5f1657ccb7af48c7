import PersistenceDriver
import Synchronization

/// The moments that a context holds.
final class PostgresPins: Sendable {
  private struct Weak: Sendable {
    weak let pin: PostgresPin?
  }

  private let pool: PostgresPool
  private let configuration: PostgresConfiguration
  private let location: String
  private let pins = Mutex<[Weak]>([])

  init(_ pool: PostgresPool, _ store: PostgresStore) {
    self.pool = pool
    configuration = store.configuration
    location = store.location
  }

  /// The pin of a session's moment: a known one, or a new one that takes the session over.
  ///
  /// - Returns: The pin, and whether it is a new one.
  func pin(_ session: PostgresSession) throws -> (pin: PostgresPin, isNew: Bool) {
    // Kept alive beyond the lock: releasing the last reference ends a transaction.
    var known: [PostgresPin] = []
    defer { withExtendedLifetime(known) {} }
    let found = pins.withLock { pins -> (PostgresPin, Bool)? in
      known = pins.compactMap(\.pin)
      pins.removeAll { $0.pin?.isLive != true }
      if let same = known.first(where: { $0.admits(session) }) { return (same, false) }
      guard hasRoom(for: session, beside: known.filter(\.isLive)) else { return nil }
      let pin = PostgresPin(session, of: pool)
      pins.append(Weak(pin: pin))
      return (pin, true)
    }
    guard let found else {
      throw PersistenceError(
        .busy,
        "results and snapshots hold \(configuration.pinLimit) moments of the store, which is the limit; release some of "
          + "them, or raise the option pins", location: location)
    }
    return found
  }

  /// Whether a session may have a pin of its own: its moment is held anyway, or the limit is not reached.
  ///
  /// A snapshot beside a result of its moment needs a pin of its own, so there are at most two for each moment.
  private func hasRoom(for session: PostgresSession, beside pins: [PostgresPin]) -> Bool {
    let limit = configuration.pinLimit
    guard pins.count >= limit else { return true }
    var moments: Set<String> = []
    let others = pins.count { pin in pin.moment.map { !moments.insert($0).inserted } ?? false }
    let isHeld = PostgresPin.moment(of: session).map(moments.contains) ?? false
    return pins.count < 2 * limit && (isHeld || pins.count - others < limit)
  }
}
