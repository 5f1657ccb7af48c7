import CPostgres
import PersistenceDriver

/// Reading ahead: the server works on the next page of a cursor while the client decodes the last one.
///
/// A session has one page ahead at most. A request to the server waits for it first, and keeps its rows.
extension PostgresSession {
  /// How long the end of a transaction waits for a page before it cancels the page's statement.
  private static let patience = Duration.milliseconds(20)

  /// Requests the rows that follow the position of a cursor, and does not wait; nil if another cursor reads ahead, or the
  /// transaction may change the rows.
  func readAhead(_ cursor: String, at start: Int, _ count: Int, _ action: String) -> PostgresPageAhead? {
    guard kind != .writing, !connection.isBroken else { return nil }
    if let ahead {
      // A cursor that nobody reads on must not keep the others from reading ahead for ever.
      guard ahead.isPassedOver, ahead.places == nil else {
        ahead.isPassedOver = true
        return nil
      }
      forget(ahead)
    }
    let fetch = PostgresCommand("FETCH FORWARD \(count) FROM \(cursor)")
    // Nothing is prepared, since the answers may be discarded.
    let commands =
      kind == .pinned
      ? [PostgresCommand("SAVEPOINT read"), fetch, PostgresCommand("RELEASE read")] : [fetch]
    let page = PostgresPageAhead(start: start, count: count)
    // The next statement throws the error of a connection that breaks here.
    guard let places = try? connection.send(commands, action, .now + .seconds(5)) else { return nil }
    page.places = places
    ahead = page
    return page
  }

  /// Takes the rows of a page; nil if they are not there because its read failed.
  func take(_ page: PostgresPageAhead, _ action: String) throws -> PostgresResult? {
    if ahead === page { try receiveAhead(action) }
    defer { forget(page) }
    return page.rows
  }

  /// Gives a page up, whose answer may still have to be read.
  func forget(_ page: PostgresPageAhead) {
    page.rows = nil
    guard ahead === page else { return }
    if page.places == nil { ahead = nil } else { page.isForgotten = true }
  }

  /// Reads the answer of a requested page before another use of the connection.
  func settleAhead(_ action: String) throws {
    do {
      try receiveAhead(action)
    } catch {
      // The read that needs the rows meets the error again.
      guard kind == .pinned, !connection.isBroken else { throw error }
    }
  }

  private func receiveAhead(_ action: String) throws {
    guard let page = ahead, let places = page.places else { return }
    page.places = nil
    if page.isForgotten { ahead = nil }
    let deadline = store.configuration.statementTimeout.map { ContinuousClock.now + $0 }
    do {
      let results = try connection.receive(places, action, deadline, isReading: true)
      if !page.isForgotten { page.rows = results.dropFirst(kind == .pinned ? 1 : 0).first }
    } catch {
      ahead = nil
      throw failed(error)
    }
  }

  /// Takes what has arrived of a requested page from the system, whose buffer is smaller than a page.
  func takeInAhead() {
    guard ahead?.places != nil, !connection.isBroken else { return }
    // An error is met by the next read.
    _ = PQconsumeInput(connection.handle)
  }

  /// Frees the connection of a requested page before the transaction ends.
  ///
  /// The next user of the connection reads the answer, and must not wait for a statement that takes long.
  func abandonAhead() {
    defer { ahead = nil }
    guard ahead?.places != nil else { return }
    let isRead = connection.skipAnswers(within: Self.patience, "end a read")
    if !isRead, !connection.isBroken { connection.cancel() }
  }
}
