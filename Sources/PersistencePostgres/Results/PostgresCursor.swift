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

  init(_ query: PostgresQuery, _ columns: PostgresColumns, isOrdered: Bool = true) {
    self.query = query
    self.columns = columns
    self.isOrdered = isOrdered
  }

  /// Reads up to a number of rows, and says whether they are the last ones.
  func page(at start: Int, _ count: Int, _ session: PostgresSession) throws -> (
    rows: PostgresResult, isLast: Bool
  ) {
    var commands: [PostgresCommand] = []
    let name = try declare(session, &commands)
    if position != start { commands.append(PostgresCommand("MOVE ABSOLUTE \(start) FROM \(name)")) }
    commands.append(PostgresCommand("FETCH FORWARD \(count) FROM \(name)"))
    position = nil
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

  /// Declares the cursor in another session of the same moment.
  func move(to session: PostgresSession) throws {
    declared = nil
    position = nil
    var commands: [PostgresCommand] = []
    _ = try declare(session, &commands)
    _ = try session.run(commands, "read from \(query.model.schema.name)")
    position = 0
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
