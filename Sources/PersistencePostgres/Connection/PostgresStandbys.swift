import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// A read has to go to the primary server: no standby can be reached, or none is new enough.
struct PostgresDetour: Error {}

/// Decides whether a context reads from a standby: one must show the context's own commits, and a failing one gets a pause.
final class PostgresStandbys: Sendable {
  private struct State {
    /// Where the newest commit of the context ends in the log; nil if a standby may lack everything.
    var position: PostgresPosition?
    /// How often the context may have seen or committed something at an unknown position.
    ///
    /// The opening may have created the store, and has seen its catalog.
    var doubts = 1
    /// How many of them the position includes.
    var settledDoubts = 0
    /// When to try a standby after a failure; nil after a success.
    var nextTry: ContinuousClock.Instant?
    /// The pause after the next try, if it fails.
    var pause = PostgresStandbys.shortestPause
  }

  private static let (shortestPause, longestPause) = (Duration.seconds(1), Duration.seconds(10))
  /// How long a read waits for a standby that has not replayed a commit, and for the answer of one that may be frozen.
  static let patience = Duration.milliseconds(200)
  /// How long a read waits for the primary server's position: longer, since that server would answer the read otherwise.
  private static let primaryPatience = Duration.seconds(1)

  private let primary: PostgresPool
  private let state: Mutex<State>

  /// Creates the state for a context with connections to the primary server, or to any if the context only reads.
  init(_ primary: PostgresPool) {
    self.primary = primary
    state = Mutex(State())
  }

  /// Notes a commit, and the answer to the query of its position.
  func note(_ answer: PostgresResult?) {
    guard let position = PostgresPosition(answer) else { return doubt() }
    state.withLock { $0.position = max($0.position ?? position, position) }
  }

  /// Notes that the context may have committed something, or has seen the primary's state, at an unknown position.
  ///
  /// The next read asks the primary server for its position.
  func doubt() { state.withLock { $0.doubts += 1 } }

  /// Whether to try a standby.
  ///
  /// After a failure, one read does so when a pause has passed. Meanwhile, the others go to the primary server.
  func isDue() -> Bool {
    state.withLock { state in
      guard let next = state.nextTry else { return true }
      guard ContinuousClock.now >= next else { return false }
      state.nextTry = .now + state.pause
      state.pause = min(state.pause * 2, Self.longestPause)
      return true
    }
  }

  /// Notes that a standby has answered.
  func hasSucceeded() {
    state.withLock { ($0.nextTry, $0.pause) = (nil, Self.shortestPause) }
  }

  /// Notes that no standby can be used for now.
  func hasFailed() {
    state.withLock { if $0.nextTry == nil { $0.nextTry = .now + $0.pause } }
  }

  /// Waits until the standby of a connection shows the context's commits.
  ///
  /// - Throws: ``PostgresDetour`` if it takes too long.
  func waitForReplay(_ connection: PostgresConnection) throws {
    guard let wanted = try wanted() else { return }
    let deadline = ContinuousClock.now + Self.patience
    var pause = 0.0005
    while connection.replayed?.includes(wanted) != true {
      let answer = try connection.run(
        [PostgresPosition.ofStandby], "read what a standby has replayed", isReading: true,
        within: Self.patience)
      connection.replayed = PostgresPosition(answer.first)
      if connection.replayed?.includes(wanted) == true { return }
      guard !connection.isOfPrimary, ContinuousClock.now < deadline else { throw PostgresDetour() }
      try ReadInterruption.check()
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.008)
    }
  }

  /// The position that a standby must have replayed; nil if any will do.
  private func wanted() throws -> PostgresPosition? {
    let (known, doubts, settled) = state.withLock { ($0.position, $0.doubts, $0.settledDoubts) }
    guard doubts > settled else { return known }
    let connection = try primary.take()
    defer { primary.giveBack(connection) }
    // A context that only reads may have opened the store at a standby.
    let place = connection.isOfPrimary ? PostgresPosition.ofPrimary : PostgresPosition.ofStandby
    let answer = try connection.run(
      [place], "read the position of the log", isReading: true, within: Self.primaryPatience)
    guard let position = PostgresPosition(answer.first) else { throw PostgresDetour() }
    return state.withLock { state in
      let newest = max(state.position ?? position, position)
      state.position = newest
      state.settledDoubts = max(state.settledDoubts, doubts)
      return newest
    }
  }
}

extension PostgresSource {
  /// Reads from a standby; nil if the read has to go to the primary server.
  ///
  /// A standby can lack a table or a privilege that the primary server has, so it decides about no error.
  func attempt<Result>(_ body: (PostgresSource) throws -> Result) throws -> Result? {
    guard let standbys, standbys.isDue() else { return nil }
    do {
      let result = try body(self)
      standbys.hasSucceeded()
      return result
    } catch is PostgresDetour {
      standbys.hasFailed()
    } catch let error as PersistenceError where error.code != .timedOut && error.code != .cancelled {
      // Reads would wait for a locked table one after another.
      if error.isLostConnection || error.isPostgres("55P03") {
        standbys.hasFailed()
      } else {
        standbys.hasSucceeded()
      }
    }
    try ReadInterruption.check()
    return nil
  }

  /// Takes a connection that shows the context's commits.
  ///
  /// - Throws: ``PostgresDetour`` if there is none to a standby.
  func take() throws -> PostgresConnection {
    guard let standbys else { return try pool.take(toRead: true) }
    do {
      var connection = try pool.take()
      if connection.isOfPrimary {
        // It was promoted, and takes the writes now.
        pool.discardIdle()
        connection = try pool.take()
      }
      do {
        try standbys.waitForReplay(connection)
      } catch {
        pool.giveBack(connection)
        throw error
      }
      return connection
    } catch let error as PersistenceError {
      try ReadInterruption.check()
      // The other connections to a frozen standby would be waited for one after another.
      if error.isLostConnection || error.code == .timedOut { pool.discardIdle() }
      throw PostgresDetour()
    }
  }
}
