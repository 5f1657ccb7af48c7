#if SQLite
  import CSQLite
  import Foundation
  import PersistenceDriver
  import PersistenceMigration
  import Testing

  import PersistenceTool

  @Suite("SQLite databases of other programs as sources")
  struct ForeignSourceTests {
    private let folder: TemporaryFolder
    private let tool = ToolHarness()

    init() throws { folder = try TemporaryFolder() }

    private func make(_ sql: String) throws -> String {
      var handle: OpaquePointer?
      try #require(sqlite3_open(folder("legacy.db"), &handle) == SQLITE_OK)
      defer { sqlite3_close(handle) }
      try #require(
        sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
      return "sqlite:\(folder("legacy.db"))"
    }

    @Test(
      "L5 L7 foreign keys of one column are references: has, sort, include, inspect and verify follow them")
    func foreignKeys() throws {
      let url = try make(
        #"""
        CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT NOT NULL);
        CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL,
          Artist INTEGER REFERENCES artist ON DELETE CASCADE, Cover INTEGER REFERENCES Artist (ArtistId));
        CREATE TABLE Part (A INTEGER, B INTEGER, PRIMARY KEY (A, B));
        CREATE TABLE Piece (Id INTEGER PRIMARY KEY, A INTEGER, B INTEGER, FOREIGN KEY (A, B) REFERENCES Part);
        INSERT INTO Artist VALUES (1, 'Nina'), (2, 'Bill');
        INSERT INTO Album VALUES (1, 'Blues', 1, NULL), (2, 'Waltz', 2, 1), (3, 'Wild', 1, 7);
        """#)
      func rows(_ arguments: String...) -> [String] {
        let run = tool.run(["query", url] + arguments + ["--format", "csv"])
        return run.code == 0
          ? run.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init) : [run.messages]
      }
      #expect(rows("Album", "--where", "has(Artist, Name = 'Nina')", "--fields", "AlbumId") == ["1", "3"])
      #expect(rows("Artist", "--where", "hasany(Album, Cover)", "--fields", "ArtistId") == ["1"])
      #expect(rows("Album", "--sort", "Artist.Name,-AlbumId", "--fields", "AlbumId") == ["2", "3", "1"])
      #expect(rows("Album", "--include", "Artist", "--fields", "Title", "--limit", "1") == ["Blues,1,Nina"])
      #expect(rows("Piece", "--where", "has(A)").first?.contains("not a reference") == true)
      let inspected = tool("inspect", url, "--format", "json")
      #expect(inspected.output.contains("on delete cascade"))
      let verified = tool("verify", url)
      #expect(
        verified.code == 1 && verified.output.contains("dangling: Album 3: “Cover” refers to Artist 7"),
        "\(verified)")
    }

    /// A typical shop database, with edge cases.
    private func shop() throws -> String {
      try make(
        #"""
        CREATE TABLE customer (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL COLLATE NOCASE,
          born DATE, joined INTEGER, seen REAL, photo BLOB, points, active BOOLEAN DEFAULT 1, CHECK (length(name) > 0));
        CREATE TABLE "order item" ("order" INT, "line ""no""" INT, sku, qty NUMERIC, total AS (qty * 2),
          customer INTEGER REFERENCES customer(id) ON DELETE CASCADE,
          PRIMARY KEY ("order", "line ""no""")) WITHOUT ROWID;
        CREATE TABLE log (message, level);
        CREATE TABLE "it's" (k TEXT PRIMARY KEY, v);
        CREATE TABLE hash (h REAL PRIMARY KEY, v) WITHOUT ROWID;
        CREATE UNIQUE INDEX by_seen ON customer (seen);
        CREATE INDEX by_lower ON customer (lower(name));
        CREATE VIEW actives AS SELECT id AS number, name FROM customer WHERE active;
        CREATE VIRTUAL TABLE search USING fts5(body);
        CREATE TRIGGER touch AFTER INSERT ON customer BEGIN SELECT 1; END;
        INSERT INTO customer VALUES (1, 'Åsa', '1980-02-29', 1577836800, 2451910.5, x'00FF', 5, 1),
          (2, 'Bo', '31.12.1999', 1577836801, NULL, x'', 'many', 0), (9007199254740993, 'C', NULL, NULL, 2.5, NULL, 1.5, 1),
          (4, 'D', '', 0, 1e300, NULL, x'01', 1);
        INSERT INTO "order item" ("order", "line ""no""", sku, qty, customer) VALUES (1, 1, 'a', 2, 1), (1, 2, 7, 2.5, 1),
          (2, 1, NULL, 9007199254740993, 2);
        INSERT INTO log VALUES ('x', 1), ('x', 1), (NULL, 'two');
        INSERT INTO "it's" VALUES (NULL, 1), ('a', 2), ('A', 9e999);
        INSERT INTO search VALUES ('hello');
        """#)
    }

    @Test("Copies every record to every engine, and reports objects without a counterpart")
    func shopArrives() throws {
      let source = try shop()
      for scheme in ToolEngines.ofFiles.map(\.scheme) {
        let place = "\(scheme):\(folder("copy." + scheme))"
        let run = tool("migrate", source, place, "--verify", "full", "--report", folder("r.json"))
        #expect(run.code == 0, "\(run)")
        #expect(
          run.output.contains("13 records of 4 models copied"))
        for line in [
          "customer: autoincrement “customer”", "customer: check “check 1”", "customer: collation “name”",
          "customer: default “active”", "customer: index “by_lower”", "order item: foreign key “customer”",
          "order item: generated column “total”", "view “actives”", "virtual table “search”",
          "customer: trigger “touch”",
        ] { #expect(run.output.contains(line), "\(line) in \(run.output)") }
        let report = try JSONParser.parse(String(contentsOfFile: folder("r.json"), encoding: .utf8))
        guard case .array(let unmappedObjects)? = report.member("report")?.member("unmappedObjects") else {
          Issue.record("the report says nothing of what was left behind")
          continue
        }
        #expect(unmappedObjects.count >= 10)
        let compared = tool("verify", source, place)
        #expect(compared.code == 0, "\(compared)")
        let customers = tool(
          "query", place, "customer", "--format", "json", "--fields", "id,points", "--sort", "id")
        #expect(
          customers.output == """
            [
            {"id":1,"points":5},
            {"id":2,"points":"many"},
            {"id":4,"points":{"$bytes":"AQ=="}},
            {"id":9007199254740993,"points":1.5}
            ]

            """, "\(customers)")
        let items = tool("query", place, "order item", "--format", "json", "--fields", "qty,total")
        #expect(items.output.contains("{\"qty\":9007199254740993,\"total\":18014398509481986}"), "\(items)")
      }
    }

    @Test("Converts text and numbers to dates by rules, and counts the rejects")
    func dates() throws {
      let source = try shop()
      let rules = [
        "--map", "customer.born=as:date(iso8601|dd.MM.yyyy)", "--map", "customer.joined=as:date(unix)",
        "--map",
        "customer.seen=as:date(julian)", "--model", "customer",
      ]
      let plan = tool.run(["migrate", source, "lmdb:\(folder("x"))", "--dry-run"] + rules)
      #expect(plan.code == 1, "\(plan)")
      #expect(
        plan.output.contains(
          "! customer.born: 1 value has no counterpart (such as 4: '' is not a valid date)"),
        "\(plan)")
      let run = tool.run(
        [
          "migrate", source, "json:\(folder("d"))", "--on-error", "reject", "--allow-lossy", "--rejects",
          folder("r"),
        ]
          + rules)
      #expect(run.code == 2, "\(run)")
      #expect(try String(contentsOfFile: folder("r"), encoding: .utf8).contains("'' is not a valid date"))
      let dates = tool(
        "query", "json:\(folder("d"))", "customer", "--format", "csv", "--fields", "born,joined,seen")
      #expect(
        dates.output
          == "born,joined,seen\r\n1980-02-29T00:00:00Z,2020-01-01T00:00:00Z,2001-01-01T00:00:00Z\r\n"
          + "1999-12-31T00:00:00Z,2020-01-01T00:00:01Z,\r\n,,-4713-11-26T12:00:00Z\r\n"
          || dates.output.hasPrefix(
            "born,joined,seen\r\n1980-02-29T00:00:00Z,2020-01-01T00:00:00Z,2001-01-01T00:00:00Z\r\n"
              + "1999-12-31T00:00:00Z,2020-01-01T00:00:01Z,\r\n,,@"),
        "\(dates)")
    }

    @Test("Copies named views and virtual tables, and reports their limits")
    func views() throws {
      let source = try shop()
      let place = "sqlite:\(folder("v.sqlite"))"
      let run = tool(
        "migrate", source, place, "--model", "actives", "--model", "search", "--rename", "actives=Active")
      #expect(run.code == 0, "\(run)")
      let rows = tool("query", place, "Active", "--format", "csv")
      #expect(rows.output == "number,name\r\n1,Åsa\r\n4,D\r\n9007199254740993,C\r\n", "\(rows)")
      #expect(tool("query", place, "search", "--format", "csv").output == "rowid,body\r\n1,hello\r\n")
      #expect(tool("inspect", place).output.contains("models   2\n"))
    }

    @Test("A table that is not readable as a model stops a run unless its loss is allowed")
    func lostTable() throws {
      let source = try make(
        "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE odd (x REAL PRIMARY KEY) WITHOUT ROWID; "
          + "INSERT INTO odd VALUES (1.5), (2.5); INSERT INTO t VALUES (1)")
      let place = "lmdb:\(folder("x"))"
      let plan = tool("migrate", source, place, "--dry-run")
      #expect(plan.code == 1 && plan.output.contains("table “odd” (2 records): not copied"), "\(plan)")
      let refused = tool("migrate", source, place)
      #expect(refused.code == 3 && refused.messages.contains("“odd”"), "\(refused)")
      #expect(tool("migrate", source, place, "--allow-lossy").code == 0)
      #expect(tool("migrate", source, "lmdb:\(folder("y"))", "--model", "t").code == 0)
      #expect(tool("migrate", source, "lmdb:\(folder("z"))", "--model", "odd").code == 3)
    }

    @Test("Rejects text that is not UTF-8 with its key, and copies the rest")
    func malformed() throws {
      let source = try make(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
          + "WHERE i < 2000) INSERT INTO t SELECT i, CASE i WHEN 1500 THEN CAST(x'E4F6' AS TEXT) ELSE 'v' || i END FROM n"
      )
      let plan = tool("migrate", source, "json:\(folder("p"))", "--dry-run")
      #expect(plan.code == 1 && plan.output.contains("1 record cannot be read (such as 1500: "), "\(plan)")
      #expect(tool("migrate", source, "sqlite:\(folder("s"))").code == 4)
      let run = tool(
        "migrate", source, "lmdb:\(folder("l"))", "--on-error", "reject", "--rejects", folder("r.ndjson"))
      #expect(run.code == 2 && run.output.contains(/\nt +2000 +1999 +0 +1\b/), "\(run)")
      let full = tool(
        "migrate", source, "sqlite:\(folder("f"))", "--on-error", "reject", "--verify", "full", "--map",
        "t.id=as:string")
      #expect(full.code == 2, "\(full)")
      let compared = tool(
        "migrate", source, "json:\(folder("j"))", "--on-error", "reject", "--verify", "full")
      #expect(compared.code == 2 && compared.output.contains("1 only in A") == false, "\(compared)")
      let line = try String(contentsOfFile: folder("r.ndjson"), encoding: .utf8)
      let reject = try JSONDecoder().decode(MigrationReject.self, from: Data(line.utf8))
      #expect(reject.key == RecordKey([.integer(1500)]) && reject.position == 1499)
      #expect(reject.reason.contains("not valid UTF-8"))
    }

    @Test("inspect and export read the same values, including mixed kinds")
    func inspectAndExport() throws {
      let source = try shop()
      let run = tool("inspect", source)
      #expect(
        run.output.contains(/\npoints +document\?\n/) && run.output.contains("view “actives”"), "\(run)")
      // The layouts of the log, the customers and the ordered items.
      #expect(run.output.contains("\nrows in the order of the key\n"), "\(run)")
      #expect(run.output.contains("\nrows in the order of the key (WITHOUT ROWID)\n"), "\(run)")
      let export = tool("export", source, "it's", "--format", "csv")
      #expect(
        export.code == 0
          && export.output == "rowid,k,v\r\n1,,1.0\r\n2,a,2.0\r\n3,A,Infinity\r\n",
        "\(export)")
      #expect(tool("export", source, "actives").output.hasPrefix("{\"number\":1,\"name\":\"Åsa\"}\n"))
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(Set(names).isSubset(of: ["legacy.db", "legacy.db-wal", "legacy.db-shm"]))
    }
  }
#endif
