import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

@Suite struct EvolutionRewriteTests {
  let scratch: Scratch
  let context: SQLiteContext
  let stored: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    stored = try EvolutionTests.movie()
    try context.fill(stored, EvolutionTests.rows)
  }

  private func evolve(_ change: SchemaChange) throws { try context.transaction { try $0.evolve(change) } }

  @Test(
    "computed fields and erased fields move the records, and keep indexes, triggers and views of other programs"
  )
  func computed() throws {
    for statement in [
      "CREATE VIEW titles AS SELECT title FROM Movie", "CREATE INDEX own ON Movie (title DESC)",
      "CREATE TRIGGER watch AFTER DELETE ON Movie BEGIN SELECT 1; END",
    ] { try context.execute(statement) }
    let target = try EvolutionTests.movie(
      "Movie",
      Array(EvolutionTests.fields.dropLast()) + [FieldSchema("length", .int64), FieldSchema("tag", .string)],
      indexes: [IndexSchema(["length"], isUnique: true)])
    let change = try SchemaChange(
      from: stored, to: target,
      sources: [.field(0), .field(1), .field(2, replacingNil: .integer(1)), .field(3), .computed, .computed]
    ) { row, computed in
      guard case .integer(let id) = try row.value(at: 0), case .text(let link) = try row.value(at: 4) else {
        return
      }
      computed.set([.integer(id * 10), .text(link + "!")])
    }
    #expect(try context.cost(of: change) == .rewrite)
    try evolve(change)
    #expect(
      try context.values(FetchRequest(target)) == [
        [.integer(1), .text("a"), .integer(1990), .double(1.5), .integer(10), .text("u:1!")],
        [.integer(2), .text("b"), .integer(1), .double(2.5), .integer(20), .text("u:2!")],
        [.integer(3), .text("c"), .integer(2000), .double(3.5), .integer(30), .text("u:3!")],
      ])
    let objects = try context.rows(
      "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'persistence%' AND sql IS NOT NULL ORDER BY name")
    #expect(objects == ["Movie", "Movie_length_index", "own", "titles", "watch"].map { [.text($0)] })
    #expect(try context.rows("SELECT * FROM titles").count == 3)
    #expect(try context.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test("an error of a computation changes nothing")
  func failure() throws {
    struct Abort: Error {}
    let target = try EvolutionTests.movie("Movie", EvolutionTests.fields + [FieldSchema("new", .int64)])
    let kept = stored.fields.indices.map { SchemaChange.Source.field($0) }
    let before = try context.rows("SELECT name, sql FROM sqlite_schema")
    for value in [PersistentValue?.none, .text("1")] {
      let change = try SchemaChange(from: stored, to: target, sources: kept + [.computed]) { row, computed in
        if value == nil, try row.value(at: 0) == .integer(3) { throw Abort() }
        computed.set(value ?? .integer(0), at: 0)
      }
      #expect(throws: (any Error).self) { try evolve(change) }
      #expect(try context.values(FetchRequest(stored)) == EvolutionTests.rows)
      #expect(try context.rows("SELECT name, sql FROM sqlite_schema") == before)
    }
  }

  @Test("a value replaces nil only, and without nil costs the catalog")
  func replacement() throws {
    var fields = EvolutionTests.fields
    fields[2].isOptional = false
    let target = try EvolutionTests.movie("Movie", fields, indexes: [IndexSchema(["title"])])
    var sources = fields.indices.map { SchemaChange.Source.field($0) }
    sources[2] = .field(2, replacingNil: .integer(5))
    let change = try SchemaChange(from: stored, to: target, sources: sources)
    #expect(try context.cost(of: change) == .rewrite)
    try evolve(change)
    #expect(
      try context.values(FetchRequest(target)).map { $0[2] } == [.integer(1990), .integer(5), .integer(2000)])
    let optional = try EvolutionTests.movie("Movie", EvolutionTests.fields, indexes: [])
    try evolve(EvolutionTests.keeping(target, as: optional))
    let again = try SchemaChange(
      from: optional, to: EvolutionTests.movie("Movie", fields, indexes: []), sources: sources)
    #expect(try context.cost(of: again) == .catalog)
    try evolve(again)
  }

  @Test("a replacement that collides in a unique index throws uniqueViolation, and changes nothing")
  func replacementViolation() throws {
    var fields = EvolutionTests.fields
    fields[2].isOptional = false
    var sources = fields.indices.map { SchemaChange.Source.field($0) }
    sources[2] = .field(2, replacingNil: .integer(1990))
    let change = try SchemaChange(from: stored, to: EvolutionTests.movie("Movie", fields), sources: sources)
    #expect(code { try evolve(change) } == .uniqueViolation)
    #expect(try context.values(FetchRequest(stored)) == EvolutionTests.rows)
  }

  @Test("a NOT NULL column of an earlier version becomes optional by a rewrite")
  func notNull() throws {
    for statement in [
      "DROP TABLE Movie",
      #"CREATE TABLE "Movie" ("id" INTEGER PRIMARY KEY NOT NULL, "title" TEXT NOT NULL, "year" INTEGER, "#
        + #""rating" REAL NOT NULL, "link" URL_TEXT NOT NULL)"#,
      #"CREATE INDEX "Movie_title_index" ON "Movie" ("title")"#,
      #"CREATE UNIQUE INDEX "Movie_year_index" ON "Movie" ("year")"#,
    ] { try context.execute(statement) }
    try context.transaction { for row in EvolutionTests.rows { try $0.insert(row, in: stored) } }
    var fields = EvolutionTests.fields
    fields[1].isOptional = true
    let change = try EvolutionTests.keeping(stored, as: EvolutionTests.movie("Movie", fields))
    #expect(try context.cost(of: change) == .rewrite)
    try evolve(change)
    try context.transaction { transaction in
      try transaction.save([.integer(1), .null, .null, .double(0), .text("")], in: change.target)
    }
    #expect(try context.values(FetchRequest(change.target)).map { $0[1] } == [.null, .text("b"), .text("c")])
    let next = try EvolutionTests.adding([(FieldSchema("new", .int64), .integer(1))], to: change.target)
    #expect(try context.cost(of: next) == .catalog)
  }

  @Test("a required field in a unique index becomes optional; UUID keys need a rewrite for it")
  func uniqueField() throws {
    for (key, cost) in [(FieldKind.int64, EvolutionCost.catalog), (.uuid, .rewrite)] {
      func model(isOptional: Bool) throws -> ModelSchema {
        try ModelSchema(
          name: key.rawValue,
          fields: [FieldSchema("id", key), FieldSchema("u", .string, isOptional: isOptional)],
          key: ["id"], indexes: [IndexSchema(["u"], isUnique: true)])
      }
      let (before, after) = try (model(isOptional: false), model(isOptional: true))
      let id = key == .int64 ? PersistentValue.integer(1) : .uuid(UUID())
      try context.fill(before, [[id, .text("x")]])
      let change = try EvolutionTests.keeping(before, as: after)
      #expect(try context.cost(of: change) == cost)
      try evolve(change)
      #expect(try context.values(FetchRequest(after)) == [[id, .text("x")]])
      try context.transaction { try $0.save([id, .null], in: after) }
    }
  }

  @Test("a model without records changes at the cost of the catalog, and keeps the first format")
  func empty() throws {
    try context.transaction { _ = try $0.deleteAll(in: stored) }
    let target = try EvolutionTests.movie(
      "Film", [FieldSchema("id", .int64), FieldSchema("new", .int64)], indexes: [IndexSchema(["new"])])
    let change = try SchemaChange(from: stored, to: target, sources: [.field(0), .computed]) {
      $1.set(.integer(1), at: 0)
    }
    #expect(try context.cost(of: change) == .catalog)
    try evolve(change)
    #expect(try context.catalog() == [target])
    try context.transaction { try $0.insert([.integer(1), .integer(2)], in: target) }
    let formats = try context.rows("SELECT json_extract(layout, '$.format') FROM persistence_catalog")
    #expect(formats == [[.integer(1)]])
  }

  @Test("indexes that were deferred are built with the change")
  func deferred() throws {
    let other = try EvolutionTests.movie("Other")
    try context.transaction { transaction in
      try transaction.defineDeferringIndexes(other)
      for row in EvolutionTests.rows { try transaction.insert(row, in: other) }
    }
    let change = try EvolutionTests.adding([(FieldSchema("new", .int64), .integer(1))], to: other)
    #expect(try context.cost(of: change) == .indexes)
    try evolve(change)
    #expect(
      try context.plan(for: FetchRequest(change.target, order: [FieldOrder("title")])).ordering == .byAccess)
  }

  @Test("the view of dates follows the model")
  func view() throws {
    let dated = try EvolutionTests.adding([(FieldSchema("seen", .date), .date(0))], to: stored)
    try evolve(dated)
    let seen = [PersistentValue.text("2001-01-01T00:00:00.000Z")]
    #expect(try context.rows("SELECT seen FROM Movie_utc") == [seen, seen, seen])
    try evolve(EvolutionTests.adding([(FieldSchema("more", .int64), .integer(4))], to: dated.target))
    #expect(try context.rows("SELECT more FROM Movie_utc WHERE id = 1") == [[.integer(4)]])
    #expect(try context.rows("SELECT count(*) FROM sqlite_schema WHERE type = 'view'") == [[.integer(1)]])
  }

  @Test("a table of another program, a missing model and a name in use are refused")
  func refusals() throws {
    try context.execute("CREATE TABLE foreign_table (id INTEGER PRIMARY KEY NOT NULL, a TEXT)")
    let foreign = try #require(try context.schema(named: "foreign_table"))
    let change = try EvolutionTests.adding([(FieldSchema("b", .int64), .integer(1))], to: foreign)
    #expect(code { try evolve(change) } == .unsupported)
    #expect(code { _ = try context.cost(of: change) } == .unsupported)
    let missing = try EvolutionTests.movie("Missing")
    #expect(code { try evolve(EvolutionTests.keeping(missing, as: stored)) } == .schemaMismatch)
    try context.transaction { try $0.define(missing) }
    #expect(
      code { try evolve(EvolutionTests.keeping(stored, as: EvolutionTests.movie("Missing"))) }
        == .schemaMismatch)
    #expect(try context.values(FetchRequest(stored)) == EvolutionTests.rows)
  }
}
