import Foundation
import PersistenceDriver

/// Why a replayable transaction was rolled back, and has to run again.
enum PostgresConflict: Error {
  /// Another transaction came first, as the error says.
  case again(PersistenceError)
  /// The closure does what no other writer may run beside.
  case alone
  /// The server refused something of a transaction whose writes did not wait for their answers: with answers, the write
  /// that is refused throws. Or the catalog of the closure was not the newest.
  case stepByStep
}

/// The runs of a replayable transaction, until one meets no conflict or the time is over.
struct PostgresReplay {
  let deadline: ContinuousClock.Instant
  private var longestPause = Duration.milliseconds(1)

  init(until deadline: ContinuousClock.Instant) { self.deadline = deadline }

  /// Waits before another run; returns false if the time is over.
  ///
  /// The pause is random, so that transactions which met once do not meet again, and grows with each conflict.
  mutating func pause() -> Bool {
    let pause = longestPause * Double.random(in: 0..<1)
    guard ContinuousClock.now + pause < deadline else { return false }
    Thread.sleep(forTimeInterval: pause / .seconds(1))
    longestPause = min(longestPause * 2, .milliseconds(128))
    return true
  }
}

extension PostgresSession {
  /// Notes that a replayable transaction has met another one; returns the error for its closure.
  func notingConflict(_ error: PersistenceError) -> PersistenceError {
    if isReplayable, conflict == nil { conflict = .again(error) }
    return error
  }

  /// Notes what the failure of a batch means for a transaction that writes.
  ///
  /// - Parameters:
  ///   - error: Why the batch failed.
  ///   - beginning: How many statements of the batch began the transaction.
  ///   - ahead: How many of its statements were not written where it failed, with those.
  /// - Returns: The error for the closure.
  func notingFailure(_ error: PersistenceError, beginning: Int, ahead: Int) -> PersistenceError {
    if error.isConflict { return notingConflict(error) }
    guard isDeferred, error.code != .timedOut, error.code != .cancelled else { return error }
    if error.isAnswer {
      guard connection.refusedPlace < ahead else { return error }
      if connection.refusedPlace < beginning {
        if error.isPostgres("55P03") { return error.ofGate(store) }
        store.noteFailure(error, ofGuard: firstVersion)
      }
    }
    conflict = conflict ?? .stepByStep
    return error
  }

  /// Throws in a replayable transaction, which then runs again as the only writer.
  func requireAlone() throws {
    guard isReplayable else { return }
    if conflict == nil { conflict = .alone }
    throw failure ?? PostgresConflict.alone
  }

  /// Throws if the transaction has failed, or has to run again.
  func requireHealth() throws {
    if let failure { throw failure }
    if let conflict { throw conflict }
  }
}
