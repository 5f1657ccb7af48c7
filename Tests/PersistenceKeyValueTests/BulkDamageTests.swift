import PersistenceDriver
import PersistenceKeyValue
import Synchronization
import Testing

/// A call that writes many records meets a damaged one after it has written others.
@Suite("Bulk writes that end half way")
struct BulkDamageTests {
  private let store = VolatileStore()
  private let schema: ModelSchema

  init() throws {
    schema = try ModelSchema(
      name: "Item",
      fields: [FieldSchema("id", .int64), FieldSchema("name", .string), FieldSchema("note", .string)],
      key: ["id"], indexes: [IndexSchema(["name"])])
    let context = try OrderedStoreContext(store)
    let schema = schema
    try context.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 3)
      for id in Int64(1)...3 {
        row.set([.integer(id), .text("n\(id)"), .text("old")])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    store.state.withLock { state in
      var records = state.content[.records] ?? []
      records[1].value[0] ^= 4
      state.content[.records] = records
    }
  }

  private func write(_ transaction: any StorageTransaction, updates: Bool) throws -> Int {
    let all = try FetchRequest(schema)
    guard updates else { return try transaction.delete(all) }
    return try transaction.update(UpdateRequest(all, set: [FieldAssignment("note", .text("new"))]))
  }

  @Test(
    "W4 a transaction whose update or delete meets a damaged record does not commit the first half of it",
    arguments: [true, false])
  func ignored(updates: Bool) throws {
    let context = try OrderedStoreContext(store)
    let before = store.state.withLock { $0.content[.records]?.map(\.value) ?? [] }
    let error = #expect(throws: PersistenceError.self) {
      try context.transaction { _ = try? write($0, updates: updates) }
    }
    #expect(error?.code == .damaged)
    #expect(store.state.withLock { $0.content[.records]?.map(\.value) ?? [] } == before)
    // A nested transaction undoes the half, so the outer one goes on.
    try context.transaction { transaction in
      let error = #expect(throws: PersistenceError.self) {
        try transaction.nested { _ = try write(transaction, updates: updates) }
      }
      #expect(error?.code == .damaged)
      let row = RowBuffer(count: 3)
      row.set([.integer(4), .text("n4"), .text("old")])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
    let after = store.state.withLock { $0.content[.records]?.map(\.value) ?? [] }
    #expect(after.count == 4 && Array(after.prefix(3)) == before)
  }
}
