import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Surveys of databases that other programs made.
@Suite struct SurveyTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func open(_ statements: [String], views: [String] = []) throws -> SQLiteContext {
    try scratch.makeForeign("foreign.sqlite", statements)
    return try scratch.open("foreign.sqlite") {
      $0.isReadOnly = true
      $0.surveysForeignTables = true
      $0.includedViews = views
    }
  }

  private func schema(_ name: String, in context: SQLiteContext) throws -> ModelSchema {
    try #require(try context.catalog().first { $0.name == name })
  }

  @Test("a survey chooses a column's kind by all its values, including the last")
  func kinds() throws {
    var statements = [
      "CREATE TABLE t (i INTEGER, r REAL, x TEXT, b BLOB, ok BOOLEAN, n NUMERIC, u, none DATETIME)"
    ]
    statements += (0..<1_500).map { "INSERT INTO t VALUES (\($0), 0.5, 'a', x'00', 1, \($0), NULL, NULL)" }
    statements.append("INSERT INTO t VALUES ('N/A', x'4E614E', x'01', 'b', 2, 1.5, 9007199254740993, NULL)")
    let context = try open(statements)
    #expect(
      "\(try schema("t", in: context))"
        == "t(rowid: int64 key, i: document?, r: document?, x: document?, b: document?, ok: int64?, n: double?, "
        + "u: int64?, none: string?)")
    let found = try context.unmappedObjects()
    #expect(found.map(\.name) == ["i", "r", "x", "b"] && found.allSatisfy { $0.kind == .severalKinds })
    #expect(found.first?.detail.hasPrefix("it holds 1500 integers, 1 text, so") == true)
  }

  @Test("values of several kinds become documents that stay different")
  func mixedValues() throws {
    let context = try open([
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v)",
      "INSERT INTO t VALUES (1, 5), (2, '5'), (3, 5.0), (4, x'35'), (5, NULL), (6, ''), (7, x''), "
        + "(8, 9e999), (9, -9e999), (10, 'Infinity'), (11, 9223372036854775807), (12, 'a\"b\\c')",
    ])
    let values = try context.values(FetchRequest(schema("t", in: context))).map { $0[1] }
    #expect(
      values == [
        .document("5"), .document("\"5\""), .document("5.0"), .document("{\"$bytes\":\"NQ==\"}"), .null,
        .document("\"\""), .document("{\"$bytes\":\"\"}"), .document("{\"$real\":\"Infinity\"}"),
        .document("{\"$real\":\"-Infinity\"}"), .document("\"Infinity\""), .document("9223372036854775807"),
        .document("\"a\\\"b\\\\c\""),
      ])
    #expect(Set(values).count == values.count)
    let found = try context.values(
      FetchRequest(schema("t", in: context), where: .comparison(field: "v", .equal, .document("\"5\""))))
    #expect(found.map { $0[0] } == [.integer(2)])
  }

  @Test("integers that a double cannot represent are never rounded beside real numbers")
  func largeIntegers() throws {
    let context = try open([
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1, 9007199254740993), (2, 0.5)",
    ])
    let values = try context.values(FetchRequest(schema("t", in: context))).map { $0[1] }
    #expect(values == [.document("9007199254740993"), .document("0.5")])
  }

  @Test("malformed UTF-8 throws an error with the record's key, and other records stay readable")
  func malformedText() throws {
    let context = try open([
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w)",
      "INSERT INTO t VALUES (1, 'é', 1), (2, CAST(x'E4F6' AS TEXT), 2), (3, 'ok', 3)",
      "INSERT INTO t VALUES (4, 'x', CAST(x'FF' AS TEXT))",
    ])
    let schema = try schema("t", in: context)
    #expect(schema.fields[1].kind == .string)
    #expect(try context.values(of: .integer(1), in: schema) == [.integer(1), .text("é"), .document("1")])
    for key in [Int64(2), 4] {
      do {
        _ = try context.values(of: .integer(key), in: schema)
        Issue.record("a record with malformed text was read")
      } catch let error as PersistenceError {
        #expect(error.code == .damaged && error.message.contains("not valid UTF-8"))
        #expect(error.key == RecordKey([.integer(key)]))
      }
    }
    #expect(try context.values(of: .integer(3), in: schema) == [.integer(3), .text("ok"), .document("3")])
  }

  @Test("keys: composite, without row IDs, of bytes, with NULL, of several kinds")
  func keys() throws {
    let context = try open([
      "CREATE TABLE pair (a TEXT, b INT, v, PRIMARY KEY (b, a)) WITHOUT ROWID",
      "INSERT INTO pair VALUES ('x', 1, 2)",
      "CREATE TABLE nulls (k TEXT PRIMARY KEY)", "INSERT INTO nulls VALUES (NULL), (NULL), ('a')",
      "CREATE TABLE mixed (k PRIMARY KEY)", "INSERT INTO mixed VALUES (1), ('1'), (x'31')",
      "CREATE TABLE hash (k BLOB PRIMARY KEY) WITHOUT ROWID",
      "INSERT INTO hash VALUES (x'000102030405060708090a0b0c0d0e0f')",
      "CREATE TABLE odd (x REAL PRIMARY KEY) WITHOUT ROWID", "INSERT INTO odd VALUES (1.5), (2.5)",
      "CREATE TABLE taken (rowid, _rowid_, oid)", "INSERT INTO taken VALUES (1, 2, 3)",
    ])
    #expect(
      try context.catalog().map { "\($0)" } == [
        "hash(k: uuid key)", "mixed(rowid: int64 key, k: document?)", "nulls(rowid: int64 key, k: string?)",
        "pair(a: string key, b: int64 key, v: int64?)",
      ])
    #expect(try context.values(FetchRequest(schema("nulls", in: context))).count == 3)
    let lost = try context.unmappedObjects().filter(\.losesRecords)
    #expect(lost.map(\.name) == ["odd", "taken"])
    #expect(lost.map(\.records) == [2, 1])
  }

  @Test("names with spaces and quotes, and included views and virtual tables")
  func views() throws {
    let statements = [
      "CREATE TABLE \"or der's \"\"x\"\"\" (\"a b\" INTEGER PRIMARY KEY, \"it's\" TEXT)",
      "INSERT INTO \"or der's \"\"x\"\"\" VALUES (1, 'one'), (2, 'two')",
      "CREATE VIEW \"my, view\" AS SELECT \"it's\" || '!' AS \"loud one\" FROM \"or der's \"\"x\"\"\"",
      "CREATE VIEW loose AS SELECT 1 AS one UNION ALL SELECT 1",
      "CREATE VIRTUAL TABLE words USING fts5(body)", "INSERT INTO words VALUES ('hello')",
    ]
    let plain = try open(statements)
    #expect(try plain.catalog().map(\.name) == ["or der's \"x\""])
    #expect(
      try plain.unmappedObjects().map { "\($0.kind.rawValue) \($0.name)" } == [
        "view loose", "view my, view", "virtual table words",
      ])
    let context = try scratch.open("foreign.sqlite") {
      $0.surveysForeignTables = true
      $0.includedViews = ["my, view", "loose", "words"]
    }
    #expect(try context.catalog().map(\.name) == ["my, view", "or der's \"x\"", "words"])
    let view = try schema("my, view", in: context)
    #expect(view.key == ["loud one"])
    #expect(try context.values(FetchRequest(view)) == [[.text("one!")], [.text("two!")]])
    #expect(
      try context.values(FetchRequest(schema("words", in: context))) == [[.integer(1), .text("hello")]])
    #expect(try context.unmappedObjects().map(\.name) == ["loose"])
    #expect(code { try context.transaction { _ in } } == .readOnly)
  }

  @Test("unmapped objects are listed with their tables")
  func unmappedObjects() throws {
    let context = try open([
      "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, n TEXT COLLATE NOCASE DEFAULT ('x'), "
        + "c INT CHECK (c <> ')' /* ) */ AND c > -5), \"CHECK\" INT, g INT GENERATED ALWAYS AS (c + 1) STORED, "
        + "note TEXT DEFAULT 'CHECK (no)')",
      "INSERT INTO a (c) VALUES (1)",
      "CREATE TABLE b (id INTEGER PRIMARY KEY, a INT REFERENCES a(id) ON DELETE CASCADE)",
      "CREATE INDEX expression ON a (lower(n))", "CREATE UNIQUE INDEX partial ON a (c) WHERE c > 0",
      "CREATE INDEX nocase ON a (n)", "CREATE INDEX plain ON a (c)",
      "CREATE TRIGGER touch AFTER INSERT ON a BEGIN SELECT 1; END",
    ])
    let found = try context.unmappedObjects().map { "\($0.model ?? "-") \($0.kind.rawValue) \($0.name)" }
    #expect(
      found == [
        "a check check 1", "a autoincrement a", "a default n", "a collation n", "a generated column g",
        "a default note", "a index expression", "a index nocase", "a index partial", "b foreign key a",
        "a trigger touch",
      ])
    let schema = try schema("a", in: context)
    #expect(schema.indexes == [IndexSchema(["c"])])
    #expect(try context.values(FetchRequest(schema)).first?[4] == .integer(2))
  }

  @Test("a store of this package has no unmapped objects")
  func ours() throws {
    let context = try scratch.open("ours.sqlite")
    try context.fill(Fixtures.movies(), [])
    #expect(try context.unmappedObjects().isEmpty)
    try context.close()
    let surveyed = try scratch.open("ours.sqlite") { $0.surveysForeignTables = true }
    #expect(try surveyed.unmappedObjects().isEmpty)
    #expect(try surveyed.catalog() == [try Fixtures.movies()])
  }
}
