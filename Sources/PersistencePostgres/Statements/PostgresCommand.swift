/// One statement to send: its text, and the number under which a connection prepares it, if it does.
struct PostgresCommand {
  let sql: String
  /// The number of the prepared statement; nil for one that is parsed and planned for its values.
  var prepared: Int?
  var parameters = PostgresParameters()
  /// Whether a prepared statement, too, has to be planned for its values each time.
  var isPlannedForValues = false

  init(_ sql: String, prepared: Int? = nil, _ parameters: PostgresParameters = PostgresParameters()) {
    self.sql = sql
    self.prepared = prepared
    self.parameters = parameters
  }
}
