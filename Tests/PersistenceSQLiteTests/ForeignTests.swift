import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Databases that other programs made.
@Suite struct ForeignTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func schema(_ name: String, in context: SQLiteContext) throws -> ModelSchema {
    try #require(try context.catalog().first { $0.name == name })
  }

  @Test("the definition of a table determines its model: kinds, keys, indexes, nil")
  func catalogs() throws {
    try scratch.makeForeign(
      "foreign.sqlite",
      [
        """
        CREATE TABLE track (id INTEGER PRIMARY KEY, name VARCHAR(200) NOT NULL, price NUMERIC(10,2), made DATETIME,
          data BLOB, ok BOOLEAN, length DOUBLE, anything, up GENERATED ALWAYS AS (upper(name)))
        """,
        "INSERT INTO track (id, name, price, made, data, ok, length, anything) VALUES "
          + "(1, 'one', 0.99, '2020-01-01', x'00FF', 1, 3.5, 7), (2, 'two', 1, NULL, NULL, NULL, NULL, NULL)",
        "CREATE UNIQUE INDEX by_name ON track (name)", "CREATE INDEX partial ON track (length) WHERE ok",
        "CREATE TABLE pair (a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID",
        "INSERT INTO pair VALUES ('x', 1), ('w', 2)",
        "CREATE TABLE loose (rowid TEXT, value INT)", "INSERT INTO loose VALUES ('r', 5), (NULL, 6)",
        "CREATE TABLE odd (x REAL PRIMARY KEY, y) WITHOUT ROWID",
        "CREATE VIEW v AS SELECT 1", "CREATE VIRTUAL TABLE words USING fts5(body)",
      ])
    let context = try scratch.open("foreign.sqlite")
    #expect(
      try context.catalog().map { "\($0)" } == [
        "loose(_rowid_: int64 key, rowid: string?, value: int64?)", "pair(a: string key, b: int64 key)",
        "track(id: int64 key, name: string, price: double?, made: string?, data: data?, ok: bool?, "
          + "length: double?, anything: int64?)",
      ])
    let track = try schema("track", in: context)
    #expect(track.indexes == [IndexSchema(["name"], isUnique: true)])
    #expect(
      try context.values(FetchRequest(track)) == [
        [
          .integer(1), .text("one"), .double(0.99), .text("2020-01-01"), .bytes([0, 255]), .bool(true),
          .double(3.5), .integer(7),
        ],
        [.integer(2), .text("two"), .double(1), .null, .null, .null, .null, .null],
      ])
    let pair = try schema("pair", in: context)
    #expect(pair.key == ["b", "a"])
    #expect(
      try context.values(FetchRequest(pair)) == [[.text("x"), .integer(1)], [.text("w"), .integer(2)]])
    // A sort without an index, beyond the first page.
    let sorted = try context.fetch(FetchRequest(pair, order: [FieldOrder("a")]))
    var names: [PersistentValue] = []
    _ = try sorted.read(from: 1, limit: 1) { names.append(try $0.value(at: 0)) }
    _ = try sorted.read(from: 0, limit: 1) { names.append(try $0.value(at: 0)) }
    #expect(names == [.text("x"), .text("w")])
    let loose = try schema("loose", in: context)
    #expect(
      try context.values(FetchRequest(loose)) == [
        [.integer(1), .text("r"), .integer(5)], [.integer(2), .null, .integer(6)],
      ])
    let odd = try ModelSchema(name: "odd", fields: [FieldSchema("x", .int64)], key: ["x"])
    #expect(code { _ = try context.fetch(FetchRequest(odd)) } == .unsupported)
  }

  @Test(
    "Q1 the rows of listed keys are found in tables that have the statement's own names",
    arguments: [
      "id INTEGER PRIMARY KEY, value INT, \"Persistence Key\" INT, \"persistence keys\" INT",
      "value INT, \"persistence keys\" INT", "_ROWID_ INTEGER PRIMARY KEY, value INT",
    ])
  func listedKeys(columns: String) throws {
    try scratch.makeForeign(
      "foreign.sqlite",
      ["CREATE TABLE t (\(columns))"] + (1...9).map { "INSERT INTO t (value) VALUES (\($0 * 10))" })
    let context = try scratch.open("foreign.sqlite")
    let t = try schema("t", in: context)
    let keys = PredicateNode.isIn(field: t.key[0], [7, 2, 12, 2].map { .integer($0) })
    let value = try #require(t.fields.firstIndex { $0.name == "value" })
    for isDescending in [false, true] {
      let order = [FieldOrder(t.key[0], isDescending: isDescending)]
      let rows = try context.values(FetchRequest(t, where: keys, order: order))
      #expect(rows.map { $0[value] } == (isDescending ? [70, 20] : [20, 70]).map { .integer($0) })
    }
  }

  @Test("foreign tables can be written, beside models of this package")
  func writing() throws {
    try scratch.makeForeign(
      "foreign.sqlite",
      [
        "CREATE TABLE loose (value INT UNIQUE)", "INSERT INTO loose VALUES (5)",
        "CREATE TABLE checked (id TEXT PRIMARY KEY, n INT CHECK (n > 0))",
      ])
    let context = try scratch.open("foreign.sqlite")
    let loose = try schema("loose", in: context)
    let checked = try schema("checked", in: context)
    try context.transaction { transaction in
      try transaction.define(loose)
      try transaction.insert([.integer(40), .integer(6)], in: loose)
      try transaction.save([.integer(40), .integer(7)], in: loose)
      #expect(code { try transaction.insert([.integer(41), .integer(5)], in: loose) } == .uniqueViolation)
      #expect(code { try transaction.insert([.integer(40), .integer(9)], in: loose) } == .duplicateKey)
      #expect(code { try transaction.insert([.text("a"), .integer(0)], in: checked) } == .invalidRequest)
      try transaction.insert([.text("a"), .integer(1)], in: checked)
    }
    #expect(
      try context.values(FetchRequest(loose)) == [[.integer(1), .integer(5)], [.integer(40), .integer(7)]])
    try context.fill(Fixtures.movies(), [])
    #expect(try context.catalog().map(\.name) == ["Movie", "checked", "loose"])
    #expect(try context.rows("PRAGMA application_id") == [[.integer(0)]])
  }

  @Test("V3 columns with other collations and affinities compare byte by byte")
  func comparisons() throws {
    try scratch.makeForeign(
      "foreign.sqlite",
      [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, code STRING)",
        "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'B', '!'), (3, 'A', 'y'), (4, 'b', NULL)",
        "CREATE INDEX by_name ON t (name)",
      ])
    let context = try scratch.open("foreign.sqlite")
    let schema = try schema("t", in: context)
    #expect(schema.indexes.isEmpty)
    func ids(_ request: FetchRequest) throws -> [Int64] { try context.values(request).map(Fixtures.id) }
    #expect(try ids(FetchRequest(schema, where: .comparison(field: "name", .equal, .text("a")))) == [1])
    #expect(try ids(FetchRequest(schema, order: [FieldOrder("name")])) == [3, 2, 1, 4])
    #expect(try ids(FetchRequest(schema, where: .isIn(field: "name", [.text("b"), .text("A")]))) == [3, 4])
    #expect(try ids(FetchRequest(schema, where: .comparison(field: "code", .less, .text("12")))) == [2])
    #expect(try ids(FetchRequest(schema, where: .isIn(field: "code", [.text("x")]))) == [1])
  }

  @Test("a value of another kind than its column's is an error, not a conversion")
  func mismatches() throws {
    try scratch.makeForeign(
      "foreign.sqlite",
      [
        "CREATE TABLE t (id TEXT PRIMARY KEY, n INTEGER, z STRING)", "INSERT INTO t VALUES ('a', 1, 'text')",
        "INSERT INTO t VALUES ('b', 'many', '007')", "INSERT INTO t VALUES (NULL, 3, NULL)",
      ])
    let context = try scratch.open("foreign.sqlite")
    let schema = try schema("t", in: context)
    #expect(try context.values(of: .text("a"), in: schema) == [.text("a"), .integer(1), .text("text")])
    #expect(code { _ = try context.values(of: .text("b"), in: schema) } == .damaged)
    #expect(code { _ = try context.values(FetchRequest(schema)) } == .damaged)
  }

  @Test("a file with a rollback journal keeps it, and declares that readers block writers")
  func journal() throws {
    let outsider = try Outsider(scratch.path("old.sqlite"))
    try outsider.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a')")
    let context = try scratch.open("old.sqlite") { $0.busyTimeout = .milliseconds(100) }
    #expect(context.capabilities.readersBlockWriters)
    #expect(try outsider.texts("PRAGMA journal_mode") == ["delete"])
    let schema = try schema("t", in: context)
    try context.transaction { try $0.insert([.integer(2), .text("b")], in: schema) }
    let results = try context.fetch(FetchRequest(schema))
    // The result's snapshot blocks the writer, as declared.
    #expect(
      code { try context.transaction { try $0.insert([.integer(3), .text("c")], in: schema) } } == .busy)
    #expect(try results.count() == 2)
  }

  @Test("UTF-16 is rejected, since it sorts differently")
  func encoding() throws {
    try Outsider(scratch.path("wide.sqlite")).execute(
      "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (id INTEGER)")
    #expect(code { _ = try scratch.open("wide.sqlite") } == .unsupported)
  }

  @Test("UTF-16 is rejected where only the log has it, since another program has restored a backup")
  func encodingInLog() throws {
    try scratch.open().close()
    let wide = try Outsider(scratch.path("wide.sqlite"))
    try wide.execute("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1)")
    let restored = try Outsider(scratch.path())
    try restored.restore(wide)
    #expect(try restored.texts("PRAGMA encoding") == ["UTF-16le"])
    #expect(code { _ = try scratch.open() } == .unsupported)
  }
}
