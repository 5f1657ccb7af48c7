/// Rows of a cursor that a session requests before their reader does.
final class PostgresPageAhead {
  /// The number of the first row.
  let start: Int
  /// How many rows were requested.
  let count: Int

  /// What the answer will contain; nil once it was read.
  var places: [PostgresConnection.Place]?
  /// The rows, until their reader takes them; nil if the read failed.
  var rows: PostgresResult?
  /// Whether its cursor has given it up before the answer was read.
  var isForgotten = false
  /// Whether another cursor has found the session's place taken, and takes it the next time.
  var isPassedOver = false

  init(start: Int, count: Int) { (self.start, self.count) = (start, count) }
}
