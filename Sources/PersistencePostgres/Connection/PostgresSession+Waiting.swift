import PersistenceDriver
import PersistenceSQL

/// The writes of a session that were not sent.
struct PostgresWaitingWrites {
  var commands: [PostgresCommand] = []
  var byteCount = 0
  /// The places of insertions whose answers are awaited.
  var insertions: [Int] = []
  /// The rows to be copied, all written after the commands.
  var rows: PostgresCopy?

  /// Whether they are enough for a batch.
  var isFull: Bool { commands.count >= 128 || byteCount >= 1 << 20 }
}

/// Writes that travel with the next batch.
extension PostgresSession {
  /// Whether the transaction is nothing but a few writes that were not sent, so that others may be committed with it.
  var canShareCommit: Bool {
    isDeferred && !wasSent && conflict == nil && catalog.version == firstVersion && waiting.rows == nil
      && waiting.insertions.isEmpty && !waiting.commands.isEmpty && waiting.commands.count <= 16
      && waiting.byteCount <= 1 << 14 && !connection.isBroken
      // A writer that waits for nobody does not wait for a turn either.
      && store.configuration.busyTimeout >= .seconds(1)
  }

  /// Runs a write whose result nobody needs, at the latest with the next statement or the commit.
  ///
  /// If it fails, for example because the disk is full, so does the whole transaction.
  func enqueue(_ command: PostgresCommand, _ action: String, isInsertion: Bool = false) throws {
    try sendCopy()
    try requireHealth()
    if isInsertion { waiting.insertions.append(waiting.commands.count) }
    waiting.commands.append(command)
    waiting.byteCount += command.parameters.byteCount
    if waiting.isFull { try flush(action) }
  }

  /// Adds a row to a table, at the latest with the next statement.
  ///
  /// If it is refused, the transaction fails.
  func copy(_ row: borrowing Row, into model: PostgresModel) throws {
    try requireHealth()
    if let rows = waiting.rows, rows.model !== model || rows.bytes.count >= PostgresCopy.byteLimit {
      try sendCopy()
    }
    if waiting.rows == nil { waiting.rows = PostgresCopy(into: model) }
    waiting.rows?.append(row)
  }

  /// Sends the rows that wait to be copied, after the other writes that wait.
  func sendCopy() throws {
    guard var rows = waiting.rows else { return }
    waiting.rows = nil
    let action = "insert records of \(rows.model.schema.name)"
    try flush(action)
    rows.finish()
    do {
      try connection.copy(rows.statement(store.dialect), rows.bytes, action)
    } catch {
      throw failed(error)
    }
  }

  /// Forgets the writes that wait.
  func discardWaiting() {
    waiting.rows = nil
    _ = takeQueue()
  }

  /// Runs the writes that wait.
  func flush(_ action: String) throws { if !waiting.commands.isEmpty { _ = try run([], action) } }

  /// The writes that wait, for the caller to run.
  func takeQueue() -> [PostgresCommand] {
    defer { (waiting.commands, waiting.byteCount, waiting.insertions) = ([], 0, []) }
    return waiting.commands
  }

  /// Waits for the answers to the queued insertions, and returns whether one was refused since the last call.
  func takeRefusal() throws -> Bool {
    try sendCopy()
    if !waiting.insertions.isEmpty { try flush("insert records") }
    defer { hasRefusal = false }
    return hasRefusal
  }
}
