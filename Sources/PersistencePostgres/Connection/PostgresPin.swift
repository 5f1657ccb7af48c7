import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// A transaction that holds one moment of the store, shared by the results and snapshots of that moment.
final class PostgresPin: @unchecked Sendable {  // the session is used under the lock only
  private let pool: PostgresPool
  private let lock = NSRecursiveLock()
  private var session: PostgresSession?
  private var error: PersistenceError?
  /// How many calls of ``withSession(_:)`` are under way, one within the other.
  private var depth = 0
  private let deadline: ContinuousClock.Instant
  private var timer: DeadlineTimer?
  /// The moment, as the server writes it.
  let moment: String

  init(_ session: PostgresSession, of pool: PostgresPool) {
    session.pin()
    self.session = session
    self.pool = pool
    moment = session.moment
    let limit = session.store.configuration.pinTimeout
    deadline = .now + limit
    timer = DeadlineTimer(after: limit) { [weak self] in self?.expire() }
  }

  deinit { end() }

  /// Calls a closure with the session, on one thread at a time; the closure may call this method again.
  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    lock.lock()
    endIfExpired()
    depth += 1
    defer {
      depth -= 1
      endIfExpired()
      lock.unlock()
    }
    guard let session else { throw error ?? PersistenceError.closed("the snapshot") }
    do {
      return try body(session)
    } catch {
      if session.connection.isBroken {
        // No other connection can take up the moment.
        self.error = self.error ?? (error as? PersistenceError)
        self.session = nil
      }
      throw error
    }
  }

  /// Releases the moment after its time; a read that is under way does so at its end.
  private func expire() {
    guard lock.try() else { return }
    defer { lock.unlock() }
    endIfExpired()
  }

  /// Releases the moment if its time is over, so that later reads throw.
  private func endIfExpired() {
    guard let session, depth == 0, .now >= deadline else { return }
    error = PersistenceError(
      .snapshotExpired,
      "a result or snapshot was held for longer than \(session.store.configuration.pinTimeout), so its moment was released; "
        + "fetch again, or raise the option pinlimit", location: session.store.location)
    end()
  }

  private func end() {
    timer?.cancel()
    guard let session else { return }
    session.end()
    pool.giveBack(session.connection)
    self.session = nil
  }
}
