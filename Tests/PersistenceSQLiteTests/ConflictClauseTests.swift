import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Foreign tables with conflict clauses, which never replace, skip or roll back a record silently (W4).
@Suite struct ConflictClauseTests {
  private static let clauses = ["ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"]

  private func open(_ statements: [String]) throws -> (SQLiteContext, Scratch) {
    let scratch = try Scratch()
    try scratch.makeForeign("foreign.sqlite", statements)
    return (try scratch.open("foreign.sqlite"), scratch)
  }

  private func schema(_ name: String, in context: SQLiteContext) throws -> ModelSchema {
    try #require(try context.catalog().first { $0.name == name })
  }

  @Test("a unique column's clause neither deletes nor drops a record", arguments: clauses)
  func unique(_ clause: String) throws {
    let (context, scratch) = try open([
      "CREATE TABLE C (id INTEGER PRIMARY KEY, u INTEGER UNIQUE on /* so */ conflict \(clause))",
      "INSERT INTO C VALUES (1, 5), (3, 6)",
    ])
    let schema = try schema("C", in: context)
    try context.transaction { transaction in
      try transaction.save([.integer(4), .integer(7)], in: schema)
      #expect(code { try transaction.insert([.integer(2), .integer(5)], in: schema) } == .uniqueViolation)
      #expect(code { try transaction.save([.integer(2), .integer(5)], in: schema) } == .uniqueViolation)
      #expect(code { try transaction.save([.integer(3), .integer(5)], in: schema) } == .uniqueViolation)
      #expect(code { try transaction.update([.integer(3), .integer(5)], in: schema) } == .uniqueViolation)
      let rows = try FetchRequest(schema, where: .comparison(field: "id", .equal, .integer(3)))
      for rows in [rows, try FetchRequest(schema, where: rows.predicate, limit: 1)] {
        let update = try UpdateRequest(rows, set: [FieldAssignment("u", .integer(5))])
        #expect(code { _ = try transaction.update(update) } == .uniqueViolation)
      }
      try transaction.update([.integer(3), .integer(8)], in: schema)
    }
    #expect(
      try context.values(FetchRequest(schema)) == [
        [.integer(1), .integer(5)], [.integer(3), .integer(8)], [.integer(4), .integer(7)],
      ])
    withExtendedLifetime(scratch) {}
  }

  @Test("a key's clause does not turn an insert into a replacement", arguments: clauses)
  func key(_ clause: String) throws {
    let (context, scratch) = try open([
      "CREATE TABLE C (id INTEGER PRIMARY KEY ON CONFLICT \(clause), n TEXT NOT NULL ON CONFLICT \(clause) DEFAULT 'd')",
      "INSERT INTO C VALUES (1, 'a')",
    ])
    let schema = try schema("C", in: context)
    #expect(
      code { try context.transaction { try $0.insert([.integer(1), .text("b")], in: schema) } }
        == .duplicateKey)
    try context.transaction { try $0.save([.integer(1), .text("c")], in: schema) }
    #expect(try context.values(FetchRequest(schema)) == [[.integer(1), .text("c")]])
    withExtendedLifetime(scratch) {}
  }

  @Test("a trigger's own clause applies if the table has none")
  func triggers() throws {
    let (context, scratch) = try open([
      "CREATE TABLE A (id INTEGER PRIMARY KEY, tag TEXT)", "CREATE TABLE tags (tag TEXT PRIMARY KEY)",
      "CREATE TRIGGER note AFTER INSERT ON A BEGIN INSERT OR IGNORE INTO tags VALUES (new.tag); END",
    ])
    let schema = try schema("A", in: context)
    for id in [Int64(1), 2] {
      try context.transaction { try $0.insert([.integer(id), .text("x")], in: schema) }
    }
    #expect(try context.count(FetchRequest(schema)) == 2)
    #expect(try context.values(FetchRequest(self.schema("tags", in: context))) == [[.text("x")]])
    withExtendedLifetime(scratch) {}
  }
}
