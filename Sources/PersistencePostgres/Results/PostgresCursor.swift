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
  /// The page that was requested before anybody wanted it: its first row, its size, and its rows when they are here.
  private var ahead: (start: Int, count: Int, rows: PostgresResult?)?

  init(_ query: PostgresQuery, _ columns: PostgresColumns, isOrdered: Bool = true) {
    self.query = query
    self.columns = columns
    self.isOrdered = isOrdered
  }

  /// Reads up to a number of rows, and says whether they are the last ones.
  ///
  /// Once pages are read one after the other, the server makes the next one while the client uses this one.
  func page(at start: Int, _ count: Int, _ session: PostgresSession) throws -> (
    rows: PostgresResult, isLast: Bool
  ) {
    let isNext = start > 0 && (position == start || ahead?.start == start)
    let (rows, isLast) = try takeAhead(at: start, session) ?? fetch(at: start, count, session)
    if isNext, !isLast { request(at: start + rows.count, query.model.pageLimit, session) }
    return (rows, isLast)
  }

  /// Requests a page without waiting for it.
  private func request(at start: Int, _ count: Int, _ session: PostgresSession) {
    guard let declared, declared.epoch == session.cursorEpoch else { return }
    position = nil
    ahead = (start, count, nil)
    session.sendAhead(
      PostgresCommand("FETCH FORWARD \(count) FROM \(declared.name)"),
      "read from \(query.model.schema.name)"
    ) { [weak self] rows in self?.receive(rows) }
  }

  /// Takes the rows of the page that was requested; nil if the cursor's place is unknown.
  private func receive(_ rows: PostgresResult?) {
    guard let requested = ahead else { return }
    ahead = rows.map { (requested.start, requested.count, $0) }
    if let rows, rows.count == requested.count { position = requested.start + rows.count }
  }

  /// The page that was requested, if it is this one.
  private func takeAhead(at start: Int, _ session: PostgresSession) throws -> (
    rows: PostgresResult, isLast: Bool
  )? {
    guard let requested = ahead else { return nil }
    if requested.start == start, requested.rows == nil { try session.settleAhead() }
    guard let arrived = ahead, arrived.start == start, let rows = arrived.rows else { return nil }
    ahead = nil
    query.model.learn(rows: rows.count, bytes: rows.byteCount)
    return (rows, rows.count < arrived.count)
  }

  /// Reads up to a number of rows from a place.
  private func fetch(at start: Int, _ count: Int, _ session: PostgresSession) throws -> (
    rows: PostgresResult, isLast: Bool
  ) {
    try? session.settleAhead()
    ahead = nil
    var commands: [PostgresCommand] = []
    let name = try declare(session, &commands)
    let isThere = position == start
    position = nil
    if !isThere { try jump(to: start, name, &commands, session) }
    commands.append(PostgresCommand("FETCH FORWARD \(count) FROM \(name)"))
    let results = try session.run(commands, "read from \(query.model.schema.name)")
    guard let rows = results.last else {
      throw PersistenceError(
        .engineFailure, "PostgreSQL did not answer a fetch", location: session.store.location)
    }
    query.model.learn(rows: rows.count, bytes: rows.byteCount)
    let isLast = rows.count < count
    if !isLast { position = start + rows.count }
    return (rows, isLast)
  }

  /// Declares the cursor in another session of the same moment; if that fails, it stays where it is.
  func move(to session: PostgresSession) throws {
    let before = (declared, position)
    declared = nil
    var commands: [PostgresCommand] = []
    do {
      _ = try declare(session, &commands)
      _ = try session.run(commands, "read from \(query.model.schema.name)")
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
      let results = try session.run(commands, "read from \(query.model.schema.name)")
      commands = []
      guard let moved = results.last?.changes, moved > 0 else { return }
      left -= longest
      direction = "FORWARD"
    }
    commands.append(PostgresCommand("MOVE \(direction) \(left) FROM \(name)"))
  }

  private func declare(_ session: PostgresSession, _ commands: inout [PostgresCommand]) throws -> String {
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
    if let declared { session.discard(cursor: declared.name, epoch: declared.epoch) }
    declared = nil
  }
}
