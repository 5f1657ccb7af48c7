/// A statement that was sent, and whose answer nobody has read.
struct PostgresAhead {
  let places: [PostgresConnection.Place]
  let action: String
  /// Takes the answer; nil if the statement has failed.
  let receive: (PostgresResult?) -> Void
}

/// Reads ahead of those who want the rows.
extension PostgresSession {
  /// Sends a statement whose answer is read when somebody wants it, or uses the connection again.
  ///
  /// - Parameters:
  ///   - command: A statement that reads.
  ///   - action: What it does, for messages.
  ///   - receive: Takes the answer; nil if the statement has failed.
  func sendAhead(
    _ command: PostgresCommand, _ action: String, receive: @escaping (PostgresResult?) -> Void
  ) {
    guard kind != .writing, isVerified, unusedCursors.isEmpty, ahead == nil, !connection.isBroken,
      let places = try? connection.send(guarded([command]), action, .now + .seconds(5))
    else { return receive(nil) }
    ahead = PostgresAhead(places: places, action: action, receive: receive)
  }

  /// Reads the answer to the statement that was sent ahead.
  ///
  /// - Throws: ``PersistenceError`` if it has failed.
  func settleAhead() throws {
    guard let sent = ahead else { return }
    ahead = nil
    do {
      let results = try connection.read(sent.places, sent.action, isReading: true)
      sent.receive(results[kind == .pinned ? 1 : 0])
    } catch {
      sent.receive(nil)
      throw failed(error)
    }
  }
}
