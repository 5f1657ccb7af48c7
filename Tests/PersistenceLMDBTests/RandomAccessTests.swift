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

  @Test(
    "R3 a small result that was read at once is read again from any position",
    arguments: [nil, PredicateNode.comparison(field: "text", .greaterOrEqual, .text("text 05"))])
  func small(condition: PredicateNode?) throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"])])
    let context = try scratch.open()
    try context.save((0..<20).map { ("\($0 + 10)", "text \($0 + 10)") }, schema)
    for (limit, offset) in [(10, 0), (10, 3), (100, 0), (100, 15), (100, 30)] {
      let rows = try context.fetch(
        FetchRequest(
          schema, where: condition, order: [FieldOrder("text")], limit: limit, offset: offset))
      func keys(from start: Int, _ count: Int) throws -> [String] {
        var keys: [String] = []
        _ = try rows.read(from: start, limit: count) { row in
          if case .text(let key) = try row.value(at: 0) { keys.append(key) }
        }
        return keys
      }
      let wanted = (10..<30).dropFirst(offset).prefix(limit).map { "\($0)" }
      for (start, count) in [(0, limit), (4, 3), (0, limit), (wanted.count, 2), (0, 1), (9, limit)] {
        let found = try keys(from: start, count)
        #expect(found == Array(wanted.dropFirst(start).prefix(count)), "\(start), \(count) of \(limit)")
      }
      let count = try rows.count()
      #expect(count == wanted.count)
    }
  }
}
