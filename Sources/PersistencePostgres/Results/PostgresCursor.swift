import PersistenceDriver
import PersistenceSQL

/// A cursor of the server over the rows of a query, declared when the first page is read.
///
/// The rows are those of the transaction's moment. A jump is a move of the cursor, which reads no rows.
final class PostgresCursor {
  private let query: PostgresQuery
  private let columns: PostgresColumns
  private let isOrdered: Bool
  /// The name, and the session's epoch in which it was declared.
  private var declared: (name: String, epoch: Int)?
  /// How many rows precede the cursor; nil if that is unknown.
  private var position: Int?
  /// The page that a session reads ahead.
  private var ahead: PostgresPageAhead?

  init(_ query: PostgresQuery, _ columns: PostgresColumns, isOrdered: Bool = true) {
    self.query = query
    self.columns = columns
    self.isOrdered = isOrdered
  }

  private var action: String { "read from \(query.model.schema.name)" }

  /// Reads about a number of rows, and says whether they are the last ones.
  ///
  /// A reader that goes on from one page to the next gets further pages sooner: each one is requested as soon as the one
  /// before is here.
  func page(at start: Int, _ count: Int, _ session: PostgresSession) throws -> (
    rows: PostgresResult, isLast: Bool
  ) {
    let isNext = start > 0 && (position ?? ahead?.start) == start
    let (rows, wanted) = try takeAhead(at: start, session) ?? (fetch(at: start, count, session), count)
    query.model.learn(rows: rows.count, bytes: rows.byteCount)
    let isLast = rows.count < wanted
    position = isLast ? nil : start + rows.count
    if !isLast, isNext { readAhead(count, session) }
    return (rows, isLast)
  }

  private func fetch(at start: Int, _ count: Int, _ session: PostgresSession) throws -> PostgresResult {
    var commands: [PostgresCommand] = []
    let earlier = declared?.name
    let name = try declare(session, &commands)
    let batches = session.batchCount
    do {
      let isThere = position == start
      position = nil
      if !isThere { try jump(to: start, name, &commands, session) }
      commands.append(PostgresCommand("FETCH FORWARD \(count) FROM \(name)"))
      guard let rows = try session.run(commands, action, reads: true).last else {
        throw PersistenceError(
          .engineFailure, "PostgreSQL did not answer a fetch", location: session.store.location)
      }
      return rows
    } catch {
      // If nothing was sent, the server does not know the cursor, and closing it would end the transaction.
      if name != earlier, session.batchCount == batches { declared = nil }
      throw error
    }
  }

  /// The page that was read ahead; nil if there is none, or it is another one.
  private func takeAhead(at start: Int, _ session: PostgresSession) throws -> (PostgresResult, Int)? {
    guard let page = ahead else { return nil }
    ahead = nil
    guard page.start == start else {
      session.forget(page)
      return nil
    }
    return try session.take(page, action).map { ($0, page.count) }
  }

  private func readAhead(_ count: Int, _ session: PostgresSession) {
    guard let declared, declared.epoch == session.cursorEpoch, let start = position else { return }
    ahead = session.readAhead(declared.name, at: start, count, action)
    if ahead != nil { position = nil }
  }

  /// Declares the cursor in another session of the same moment; if that fails, it stays where it is.
  func move(to session: PostgresSession) throws {
    let before = (declared, position)
    declared = nil
    var commands: [PostgresCommand] = []
    do {
      _ = try declare(session, &commands)
      _ = try session.run(commands, action)
    } catch {
      (declared, position) = before
      throw error
    }
    position = 0
  }

  /// Moves a declared cursor, in steps since a statement takes numbers of 32 bits; stops at the end.
  private func jump(
    to start: Int, _ name: String, _ commands: inout [PostgresCommand], _ session: PostgresSession
  ) throws {
    let longest = Int(Int32.max)
    var (left, direction) = (start, "ABSOLUTE")
    while left > longest {
      commands.append(PostgresCommand("MOVE \(direction) \(longest) FROM \(name)"))
      let results = try session.run(commands, action, reads: true)
      commands = []
      guard let moved = results.last?.changes, moved > 0 else { return }
      left -= longest
      direction = "FORWARD"
    }
    commands.append(PostgresCommand("MOVE \(direction) \(left) FROM \(name)"))
  }

  private func declare(_ session: PostgresSession, _ commands: inout [PostgresCommand]) throws -> String {
    // A failed read of a page ahead takes the cursors with it, so its answer comes first.
    try session.settleAhead(action)
    if let declared, declared.epoch == session.cursorEpoch { return declared.name }
    let name = session.nextCursor()
    let select = try session.command(query.rows(columns, isOrdered: isOrdered), of: query.model)
    commands.append(PostgresCommand("DECLARE \(name) SCROLL CURSOR FOR " + select.sql, select.parameters))
    declared = (name, session.cursorEpoch)
    position = 0
    return name
  }

  /// Gives the cursor up.
  func discard(_ session: PostgresSession) {
    if let ahead { session.forget(ahead) }
    ahead = nil
    if let declared { session.discard(cursor: declared.name, epoch: declared.epoch) }
    declared = nil
  }
}
