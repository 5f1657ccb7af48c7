import PersistenceDriver
import PersistenceSQL

/// Where the rows of a sorted result are: their numbers in order, or their keys where rows have no numbers.
struct SQLiteSortedRowIDs {
  private var numbers: [Int64] = []
  private var keys: [RecordKey] = []

  /// Whether these are all of the result's rows.
  private(set) var isComplete = false

  var count: Int { numbers.count + keys.count }

  /// Sorts, and keeps where the rows are.
  ///
  /// - Parameters:
  ///   - query: What is sorted, the request's anchor included.
  ///   - connection: Where it is read.
  ///   - model: The model.
  ///   - offset: How many rows are passed over.
  ///   - limit: How many are kept; nil for all.
  ///   - isAll: Whether the limit is the request's own; otherwise there may be more rows.
  /// - Throws: ``PersistenceError``.
  mutating func load(
    _ query: SQLQuery, _ connection: SQLiteConnection, _ model: SQLiteModel, offset: Int, limit: Int?,
    isAll: Bool
  ) throws {
    let statement = query.select(.locators, limit: limit, offset: offset)
    var (numbers, keys): ([Int64], [RecordKey]) = ([], [])
    try connection.withStatement(statement.shape, of: model) { prepared in
      try prepared.bind(statement.bindings)
      while try prepared.step() {
        if model.table.rowNumber != nil {
          numbers.append(prepared.integer(0))
        } else {
          keys.append(RecordKey(try prepared.values(model.table.key)))
        }
      }
    }
    isComplete = isAll || numbers.count + keys.count < (limit ?? Int.max)
    self.numbers = numbers
    self.keys = keys
  }

  /// Reads the rows at some positions.
  func read(
    _ columns: SQLiteColumns, _ connection: SQLiteConnection, _ model: SQLiteModel, from offset: Int,
    _ wanted: Int, _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    let end = min(count, offset + min(wanted, count))
    guard offset < end else { return 0 }
    let shape = StatementKey(.rowAtLocator, model: model.number, items: columns.items)
    return try connection.withStatement(shape, of: model) { statement in
      for position in offset..<end {
        if model.table.rowNumber != nil {
          try statement.bind(.integer(numbers[position]), at: 1)
        } else {
          try statement.bind(keys[position])
        }
        guard try statement.step() else {
          throw PersistenceError.damaged("a record of \(model.schema.name) that was found cannot be read")
            .at(model: model.schema.name, location: connection.store.location)
        }
        try statement.withRow(columns, body)
        statement.reset()
      }
      return end - offset
    }
  }
}
