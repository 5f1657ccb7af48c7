import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@Suite struct AppliedBatchesTests {
  @Test("E5 a damaged number of the last batch is an error", arguments: [Int64.max, .min, -1])
  func damagedNumbers(number: Int64) throws {
    let context = MemoryContext()
    let batches = AppliedBatches()
    try context.transaction { _ = try batches.record(UUID(), in: $0) }
    let schema = try #require(try context.catalog().first)
    let stored = try #require(try keys(of: schema, in: context).first)
    try context.transaction { transaction in
      let row = RowBuffer(count: schema.fields.count)
      row.set([stored, .integer(number), .date(0)])
      try row.withRow { try transaction.save($0, in: schema) }
    }
    let error = #expect(throws: PersistenceError.self) {
      try context.transaction { _ = try batches.record(UUID(), in: $0) }
    }
    #expect(error?.code == .damaged)
  }

  private func keys(of schema: ModelSchema, in context: any StorageContext) throws -> [PersistentValue] {
    var keys: [PersistentValue] = []
    _ = try context.fetch(FetchRequest(schema)).read(from: 0, limit: 10) { keys.append(try $0.value(at: 0)) }
    return keys
  }
}
