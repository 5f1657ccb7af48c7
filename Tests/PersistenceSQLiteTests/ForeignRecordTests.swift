import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import TestSupport
import Testing

/// Records of other programs' tables whose keys, texts and names SQLite treats in its own way.
@Suite struct ForeignRecordTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func open(_ statements: [String]) throws -> SQLiteContext {
    try scratch.makeForeign("foreign.sqlite", statements)
    return try scratch.open("foreign.sqlite")
  }

  private func schema(_ name: String, in context: SQLiteContext) throws -> ModelSchema {
    try #require(try context.catalog().first { $0.name == name })
  }

  @Test(
    "V3 W1 a save replaces no record whose key only the column's own comparison considers equal",
    arguments: zip(["NOCASE", "RTRIM"], ["abc", "ABC "]))
  func savedKeys(collation: String, other: String) throws {
    let context = try open([
      "CREATE TABLE t (id TEXT PRIMARY KEY COLLATE \(collation), n INT)", "INSERT INTO t VALUES ('ABC', 1)",
    ])
    let t = try schema("t", in: context)
    try context.transaction { transaction in
      #expect(code { try transaction.save([.text(other), .integer(2)], in: t) } == .invalidRequest)
      #expect(code { try transaction.update([.text(other), .integer(2)], in: t) } == .notFound)
      let rows = try transaction.values(FetchRequest(t))
      #expect(rows == [[.text("ABC"), .integer(1)]])
      try transaction.save([.text("ABC"), .integer(3)], in: t)
      try transaction.save([.text("DEF"), .integer(4)], in: t)
    }
    #expect(
      try context.values(FetchRequest(t)) == [[.text("ABC"), .integer(3)], [.text("DEF"), .integer(4)]])
  }

  @Test(
    "V3 W1 a save replaces no record that only an index of the key considers equal",
    arguments: [
      "CREATE TABLE t (id TEXT NOT NULL, n INT, PRIMARY KEY (id COLLATE NOCASE))",
      "CREATE TABLE t (id TEXT NOT NULL, n INT, PRIMARY KEY (id COLLATE NOCASE)) WITHOUT ROWID",
      "CREATE TABLE t (id TEXT PRIMARY KEY, n INT); CREATE UNIQUE INDEX u ON t (id COLLATE NOCASE)",
      "CREATE TABLE t (id ANY COLLATE NOCASE PRIMARY KEY, n INT) STRICT",
    ])
  func indexedKeys(table: String) throws {
    let context = try open(
      table.split(separator: "; ").map(String.init) + ["INSERT INTO t VALUES ('abc', 1)"])
    let t = try schema("t", in: context)
    #expect(code { try context.transaction { try $0.save([.text("ABC"), .integer(2)], in: t) } } != nil)
    #expect(try context.values(FetchRequest(t)) == [[.text("abc"), .integer(1)]])
    try context.transaction { transaction in
      try transaction.save([.text("abc"), .integer(3)], in: t)
      try transaction.save([.text("def"), .integer(4)], in: t)
    }
    #expect(try context.values(FetchRequest(t)).map { $0[1] } == [.integer(3), .integer(4)])
  }

  @Test("V3 W1 a save replaces no other record of a store to which another program has added an index")
  func addedIndex() throws {
    let context = try scratch.open()
    let schema = try ModelSchema(
      name: "Word", fields: [FieldSchema("text", .string), FieldSchema("n", .int64)], key: ["text"])
    try context.fill(schema, [[.text("abc"), .integer(1)]])
    try context.execute("CREATE UNIQUE INDEX added ON Word (text COLLATE NOCASE)")
    #expect(code { try context.fill(schema, [[.text("ABC"), .integer(2)]]) } != nil)
    #expect(try context.values(FetchRequest(schema)) == [[.text("abc"), .integer(1)]])
    try context.fill(schema, [[.text("abc"), .integer(3)]])
    #expect(try context.values(FetchRequest(schema)) == [[.text("abc"), .integer(3)]])
  }

  @Test(
    "W1 a page of records is changed alone although another program adds columns named as the row ID",
    arguments: [FieldKind.string, .int64],
    [["rowid"], ["oid"], ["ROWID", "_rowid_"], ["oid", "RowId", "_rowid_"]])
  func addedRowIDs(key: FieldKind, columns: [String]) throws {
    let context = try scratch.open()
    let schema = try ModelSchema(
      name: "Word", fields: [FieldSchema("id", key), FieldSchema("text", .string)], key: ["id"])
    let keys: [PersistentValue] = (1...4).map { number in
      key == .string ? .text("\(number)") : .integer(Int64(number))
    }
    try context.fill(schema, keys.map { [$0, .text("a")] })
    let last = try FetchRequest(schema, order: [FieldOrder("id", isDescending: true)], limit: 1)
    let update = try UpdateRequest(last, set: [FieldAssignment("text", .text("b"))])
    func change(_ body: (any StorageTransaction) throws -> Int) throws -> Int {
      var count = 0
      try context.transaction { count = try body($0) }
      return count
    }
    #expect(try change { try $0.delete(last) } == 1)
    let other = try Outsider(scratch.path())
    for column in columns { try other.execute("ALTER TABLE Word ADD COLUMN \(column) INTEGER DEFAULT 1") }
    #expect(try change { try $0.delete(last) } == 1)
    #expect(try change { try $0.update(update) } == 1)
    #expect(
      try context.values(FetchRequest(schema)) == [[keys[0], .text("a")], [keys[1], .text("b")]])
  }

  private static let numbers = ["12.50", "007", " 1e3\t", "-.5", "+5.", "1E-9", "9999999999999999999999"]
  private static let texts = [
    "", " ", ".", "-", "1e", "1e+", "0x1F", "1 2", "12a", "1_000", "1,5", "Infinity", "nan", "\u{663}",
    "\u{0}1", "1\u{0}", "\u{A0}1",
  ]

  @Test("V2 a text that a column would turn into a number is refused, and any other one comes back")
  func convertedTexts() throws {
    let context = try open([
      "CREATE TABLE p (id INTEGER PRIMARY KEY, price DECIMAL(10,2), code STRING)",
      "CREATE TABLE k (code STRING PRIMARY KEY)", "CREATE TABLE s (id INTEGER PRIMARY KEY, v ANY) STRICT",
    ])
    let (p, k, s) = try (schema("p", in: context), schema("k", in: context), schema("s", in: context))
    #expect("\(p)" == "p(id: int64 key, price: string?, code: string?)")
    try context.transaction { transaction in
      try transaction.save([.integer(0), .null, .null], in: p)
      for text in Self.numbers.map(PersistentValue.text) {
        let rows: [[PersistentValue]] = [[.integer(0), text, .null], [.integer(0), .null, text]]
        for row in rows {
          let new = [PersistentValue.integer(1)] + row.dropFirst()
          #expect(code { try transaction.insert(new, in: p) } == .invalidRequest)
          #expect(code { try transaction.update(row, in: p) } == .invalidRequest)
          #expect(code { try transaction.save(row, in: p) } == .invalidRequest)
        }
        let update = try UpdateRequest(FetchRequest(p), set: [FieldAssignment("code", text)])
        #expect(code { _ = try transaction.update(update) } == .invalidRequest)
        #expect(code { try transaction.save([text], in: k) } == .invalidRequest)
        try transaction.save([.integer(1), text], in: s)
        let found = try transaction.values(of: .integer(1), in: s)
        #expect(found == [.integer(1), text])
      }
      for text in Self.texts.map(PersistentValue.text) {
        try transaction.save([.integer(1), text, text], in: p)
        let found = try transaction.values(of: .integer(1), in: p)
        #expect(found == [.integer(1), text, text])
        try transaction.save([text], in: k)
      }
    }
    #expect(try context.values(of: .integer(0), in: p) == [.integer(0), .null, .null])
    #expect(try context.count(FetchRequest(k)) == Self.texts.count)
  }

  @Test("R3 R4 a row whose key is NULL is reported in every order, not skipped", arguments: [false, true])
  func nullKeys(isDescending: Bool) throws {
    let context = try open([
      "CREATE TABLE t (id TEXT PRIMARY KEY, n INT)",
      "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300) "
        + "INSERT INTO t SELECT printf('%04d', n), n FROM c",
      "INSERT INTO t VALUES (NULL, 0)",
    ])
    let t = try schema("t", in: context)
    let order = [FieldOrder("id", isDescending: isDescending)]
    let request = try FetchRequest(t, order: order)
    #expect(try context.count(request) == 301)
    let failure = code {
      let results = try context.fetch(request)
      var row = 0
      while true {
        let count = try results.read(from: row, limit: 100) { _ in }
        if count == 0 { return }
        row += count
      }
    }
    #expect(failure == .damaged)
    let others = PredicateNode.comparison(field: "id", .notEqual, .text("x"))
    #expect(code { _ = try context.values(FetchRequest(t, where: others, order: order)) } == .damaged)
  }

  @Test("O1 a generated column that is named as the row ID does not stand for it")
  func generatedRowID() throws {
    let context = try open([
      "CREATE TABLE g (a TEXT, rowid INT GENERATED ALWAYS AS (1))", "INSERT INTO g (a) VALUES ('x'), ('y')",
    ])
    let g = try schema("g", in: context)
    #expect("\(g)" == "g(_rowid_: int64 key, a: string?)")
    #expect(
      try context.values(FetchRequest(g)) == [[.integer(1), .text("x")], [.integer(2), .text("y")]])
  }

  @Test("E6 foreign keys refer to tables by the names as SQLite compares them")
  func foreignKeys() throws {
    let context = try open([
      "CREATE TABLE \"\u{C9}a\" (id INTEGER PRIMARY KEY)",
      "CREATE TABLE \"\u{E9}a\" (id INTEGER PRIMARY KEY)",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, q INT REFERENCES \"\u{C9}A\", "
        + "r INT REFERENCES \"\u{E9}A\" (ID))",
    ])
    let found = try ReferenceLedger.foreign(context).map { "\($0.field) \($0.target)" }.sorted()
    #expect(found == ["q \u{C9}a", "r \u{E9}a"])
  }
}
