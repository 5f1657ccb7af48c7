import PersistenceDriver
import Synchronization

/// The store as it was at one moment.
final class SQLiteSnapshot: StorageSnapshot, SQLiteReader {
  private let pin: SQLiteSharedReadTransaction

  init(_ pin: SQLiteSharedReadTransaction) {
    self.pin = pin
    pin.users.add(1, ordering: .relaxed)
  }

  deinit { pin.users.subtract(1, ordering: .relaxed) }

  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try pin.withConnection(body)
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try find(key, in: schema, reading: body)
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try SQLiteResults(request, in: self)
  }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try SQLiteResults(request, selecting: positions, in: self)
  }
}
