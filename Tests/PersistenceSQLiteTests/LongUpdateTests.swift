import CSQLite
import PersistenceDriver
import TestSupport
import Testing

@testable import PersistenceSQLite

@Suite struct LongUpdateTests {
  @Test(
    "W7 an update of many records, of which one would be too long, changes none", arguments: [true, false])
  func partialUpdates(isClustered: Bool) throws {
    let scratch = try Scratch()
    let context = try scratch.open { if isClustered { $0.clusteredModels = ["Long"] } }
    let schema = try ModelSchema(
      name: "Long",
      fields: [
        FieldSchema("id", .int64), FieldSchema("a", .data, isOptional: true),
        FieldSchema("b", .data, isOptional: true),
      ], key: ["id"])
    let rows: [[PersistentValue]] = (1...10).map { id in
      [.integer(id), .bytes([UInt8](repeating: 7, count: id == 5 ? 90_000 : 1)), .null]
    }
    try context.fill(schema, rows)
    try context.transaction { transaction in
      let handle = try #require(transaction as? SQLiteTransaction).connection.handle
      let limit = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 100_000)
      defer { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, limit) }
      let long = [UInt8](repeating: 8, count: 50_000)
      let update = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("b", .bytes(long))])
      #expect(code { _ = try transaction.update(update) } == .valueTooLarge)
    }
    #expect(try context.values(FetchRequest(schema)) == rows)
  }
}
