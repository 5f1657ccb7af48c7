import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("R3: random access")
struct LMDBScatteredTests {
  @Test("R3 a whole index uses random access; with a limit, a range or only its own fields it does not")
  func scattered() throws {
    let scratch = try Scratch()
    let schema = try ModelSchema(
      name: "Note",
      fields: [FieldSchema("id", .int64), FieldSchema("text", .string), FieldSchema("body", .string)],
      key: ["id"], indexes: [IndexSchema(["text"])])
    let context = try scratch.open()
    try context.transaction { try $0.define(schema) }
    let order = [FieldOrder("text")]
    let range = PredicateNode.comparison(field: "text", .equal, .text("text 3"))
    #expect(try context.fetch(FetchRequest(schema, order: order)).usesRandomAccess)
    #expect(try !context.fetch(FetchRequest(schema, order: order, limit: 40)).usesRandomAccess)
    #expect(try !context.fetch(FetchRequest(schema, where: range, order: order)).usesRandomAccess)
    #expect(try !context.fetch(FetchRequest(schema)).usesRandomAccess)
    let text = try #require(schema.position(of: "text"))
    #expect(try !context.fetch(FetchRequest(schema, order: order), selecting: [text]).usesRandomAccess)
  }
}
