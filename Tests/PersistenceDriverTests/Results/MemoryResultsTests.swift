import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// Results of the memory context whose condition fails at a record.
struct MemoryResultsTests {
  @Test("R4 a read after one that failed begins with the same record, and does not skip it")
  func failingCondition() throws {
    let schema = try ModelSchema(
      name: "Note", fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"])
    let context = MemoryContext()
    let long = String(repeating: "ab", count: 200_000)
    try context.transaction { transaction in
      try transaction.define(schema)
      for (id, text) in ["a", "b", long, "c"].enumerated() {
        let row = RowBuffer(count: 2)
        row.set(.integer(Int64(id)), at: 0)
        row.set(.text(text), at: 1)
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    let pattern = "(" + String(repeating: "(a|b)?", count: 400) + "){3}c"
    // Only the long text needs more steps than a search may take.
    let request = try FetchRequest(
      schema, where: .text(field: "text", .matches, pattern, isCaseInsensitive: false))
    let results = try context.fetch(request)
    for _ in 0..<2 {
      let error = #expect(throws: PersistenceError.self) { try results.count() }
      #expect(error?.code == .patternTooSlow)
    }
  }
}
