import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// A transaction that holds one moment of the store, shared by the results and snapshots of that moment.
final class PostgresPin: @unchecked Sendable {  // the session is used under the lock only
  private let pool: PostgresPool
  private let lock = NSRecursiveLock()
  private var session: PostgresSession?
  private var error: PersistenceError?
  /// How many calls of ``withSession(_:)`` are under way, one within the other.
  private var depth = 0
  private let deadline: ContinuousClock.Instant
  /// Whether the session still holds the moment, as far as this side knows.
  private let holds = Atomic<Bool>(true)
  private var timer: DeadlineTimer?
  /// The moment; nil if it cannot be compared with others.
  let moment: String?
  /// Whether the transaction keeps all tables from being removed, as a snapshot needs.
  private let locksTables: Bool

  init(_ session: PostgresSession, of pool: PostgresPool) {
    session.pin()
    self.session = session
    self.pool = pool
    moment = Self.moment(of: session)
    locksTables = session.locksTables
    let limit = session.store.configuration.pinTimeout
    deadline = .now + limit
    timer = DeadlineTimer(after: limit) { [weak self] in self?.expire() }
  }

  deinit { end() }

  /// Whether the moment is still held: it neither expired nor was lost with the connection.
  var isLive: Bool { holds.load(ordering: .acquiring) }

  /// The moment of a session with the run of the server that gave it; nil if it cannot be compared with others.
  ///
  /// A standby writes a moment without the transactions that were open, so equal texts may be different moments there; its
  /// run is unknown.
  static func moment(of session: PostgresSession) -> String? {
    session.connection.serverRun.map { "\($0) \(session.moment)" }
  }

  /// Whether further results may use this pin for the moment of a session.
  ///
  /// A snapshot may read any table, so it does not share the pin of a result, which has locked one: the pin would wait for
  /// the other locks behind a writer that waits for the snapshot's own. A new result gets at least half of the time limit.
  /// An observer does not share it with a reader that is using it.
  func admits(_ session: PostgresSession) -> Bool {
    isLive && (locksTables || !session.locksTables) && moment != nil && moment == Self.moment(of: session)
      && ContinuousClock.now + session.store.configuration.pinTimeout / 2 <= deadline
      && (!ObserversLock.isHeld || isAtRest) && !hasUnaskedAnswer
  }

  /// Whether the server has said something that nobody asked for: why it ends the connection, or that it has.
  private var hasUnaskedAnswer: Bool {
    guard lock.try() else { return false }
    defer { lock.unlock() }
    guard let session, session.ahead?.places == nil else { return false }
    return session.connection.hasUnaskedAnswer
  }

  /// Whether no read is under way, nor a page that is read ahead.
  private var isAtRest: Bool {
    guard lock.try() else { return false }
    defer { lock.unlock() }
    return depth == 0 && session?.ahead?.places == nil
  }

  /// Calls a closure with the session, on one thread at a time; the closure may call this method again.
  ///
  /// - Throws: `SnapshotWouldWait` if the thread must not wait for a reader, and the closure's error.
  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    if !lock.try() {
      // The reader may commit in the midst of its rows, and so wait for the lock of the observers.
      if ObserversLock.isHeld { throw SnapshotWouldWait() }
      lock.lock()
    }
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
        // No other connection can take up the moment. The reason may concern the interrupted caller only.
        let ended = (error as? PersistenceError).flatMap { $0.code == .snapshotExpired ? $0 : nil }
        self.error = ended ?? Self.lost(session.store.location)
        self.session = nil
        holds.store(false, ordering: .releasing)
      }
      throw error
    }
  }

  private static func lost(_ location: String) -> PersistenceError {
    PersistenceError(
      .unreachable, "the connection that held the moment of a result or snapshot is broken; fetch again",
      location: location)
  }

  /// Releases the moment after its time; a read that is under way does so at its end.
  private func expire() {
    guard lock.try() else {
      // The end of the read may have come just before that of the time.
      _ = DeadlineTimer(after: .seconds(1)) { [weak self] in self?.expire() }
      return
    }
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
    holds.store(false, ordering: .releasing)
    guard let session else { return }
    session.end()
    pool.giveBack(session.connection)
    self.session = nil
  }
}
