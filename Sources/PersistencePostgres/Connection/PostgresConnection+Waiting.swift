import CPostgres
import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// Waiting for the server.
extension PostgresConnection {
  /// The interruption of a read, after the server was told to cancel it.
  struct Interrupted: Error {
    let reason: PersistenceError
  }

  /// The next result; nil between two statements.
  func nextResult(_ wait: Wait) throws -> PostgresResult? {
    try checkInterruption(wait)
    while PQisBusy(handle) != 0 {
      _ = try waitForSocket(Int16(POLLIN), wait)
      guard PQconsumeInput(handle) != 0 else { throw broken(wait.action) }
    }
    guard let result = PQgetResult(handle) else {
      emptyAnswers += 1
      // One of them separates two statements; more mean that the end of the batch is lost.
      guard PQstatus(handle) == CONNECTION_OK, emptyAnswers < 4 else { throw broken(wait.action) }
      return nil
    }
    emptyAnswers = 0
    return PostgresResult(result)
  }

  /// Reads the answers to what was posted, before the connection is closed.
  ///
  /// A server that cannot send an answer any more reports a lost client to its log.
  func readLastAnswers() {
    let wait = Wait(
      deadline: .now + .milliseconds(200), isReading: false, cancels: false, action: "close a connection")
    do {
      while !isBroken, unread > 0 { try skipBatch(wait) }
    } catch {
      // It is closed all the same.
    }
  }

  /// Waits until the socket is ready, and returns for what.
  func waitForSocket(_ events: Int16, _ wait: Wait) throws -> Int16 {
    while true {
      try checkInterruption(wait)
      // Interruptions are noticed within this time.
      var milliseconds: Int32 = wait.isReading || wait.isCancelling ? 50 : -1
      if let deadline = wait.deadline {
        let left = (deadline - .now).timeInterval * 1000
        guard left > 0 else { throw timedOut(wait) }
        let rounded = Int32(min(left.rounded(.up), 1_000_000))
        milliseconds = milliseconds < 0 ? rounded : min(milliseconds, rounded)
      }
      var file = pollfd(fd: PQsocket(handle), events: events, revents: 0)
      let count = poll(&file, 1, milliseconds)
      if count > 0 { return file.revents }
      if count < 0, errno != EINTR { throw broken(wait.action) }
      if count == 0, wait.isCancelling { cancel() }
    }
  }

  /// Tells the server to cancel an interrupted read.
  private func checkInterruption(_ wait: Wait) throws {
    guard wait.isReading else { return }
    do {
      try ReadInterruption.check()
    } catch let error as PersistenceError {
      cancel()
      throw Interrupted(reason: error)
    }
  }

  /// Reads and discards the answers that come within a time, and returns whether these were all.
  func skipAnswers(within time: Duration, _ action: String) -> Bool {
    let (end, wait) = (ContinuousClock.now + time, Wait(isReading: false, action: action))
    while unread > 0 {
      while PQisBusy(handle) != 0 {
        let left = (end - .now).timeInterval * 1000
        var file = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard left > 0, poll(&file, 1, Int32(left.rounded(.up))) > 0, PQconsumeInput(handle) != 0 else {
          return false
        }
      }
      do {
        if try endsBatch(nextResult(wait)) { endBatch() }
      } catch {
        return false
      }
    }
    return true
  }

  private func timedOut(_ wait: Wait) -> PersistenceError {
    // The answer may come at any time, so the connection is of no use any more.
    isBroken = true
    if wait.cancels { cancelLater() }
    return PersistenceError(
      .timedOut,
      "PostgreSQL did not \(wait.action) within the statement time-out; retry, or raise the option timeout",
      location: store.location)
  }
}
