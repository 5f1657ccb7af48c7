import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import Testing

/// Stored values and their format in the file.
@Suite struct ValueTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("V2 values of every kind round-trip, also after the file was closed")
  func roundTrip() throws {
    let schema = try Fixtures.everything()
    var random = SeededGenerator(seed: 1)
    var rows: [[PersistentValue]] = []
    for id in 0..<200 { rows.append(Fixtures.row(id, schema, &random)) }
    let context = try scratch.open()
    try context.fill(schema, rows)
    #expect(try context.values(FetchRequest(schema)) == rows)
    try context.close()
    let again = try scratch.open()
    #expect(try again.catalog() == [schema])
    let read = try again.values(FetchRequest(Fixtures.everything()))
    #expect(read == rows)
    // Equality follows V4; compare the bits as well.
    for (left, right) in zip(read.joined(), rows.joined()) {
      if case (.double(let left), .double(let right)) = (left, right) {
        #expect(left.bitPattern == TotalOrder.normalized(right).bitPattern)
      }
    }
  }

  @Test("V2 a blob of 64 MiB, Int64 extremes, dates to the bit, texts with U+0000")
  func extremes() throws {
    let schema = try ModelSchema(
      name: "Extreme",
      fields: [
        FieldSchema("id", .int64), FieldSchema("blob", .data), FieldSchema("text", .string),
        FieldSchema("date", .date),
      ], key: ["id"])
    // Without the optimizer, a closure for each byte would take seconds.
    let part = (0..<1 << 16).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
    var blob: [UInt8] = []
    while blob.count < 64 << 20 { blob += part }
    let date = Date(timeIntervalSinceReferenceDate: 753_123_456.789_012_3)
    let rows: [[PersistentValue]] = [
      [.integer(.min), .bytes(blob), .text("a\u{0}b\u{0}"), .date(date.timeIntervalSinceReferenceDate)],
      [.integer(.max), .bytes([]), .text(""), .date(-.leastNonzeroMagnitude)],
    ]
    let context = try scratch.open()
    try context.fill(schema, rows)
    #expect(try context.values(FetchRequest(schema)) == rows)
    #expect(try context.values(of: .integer(.min), in: schema) == rows[0])
    let found = try context.values(
      FetchRequest(schema, where: .comparison(field: "text", .equal, .text("a\u{0}b\u{0}"))))
    #expect(found == [rows[0]])
    let sorted = try context.fetch(FetchRequest(schema, order: [FieldOrder("date", isDescending: true)]))
    var ids: [PersistentValue] = []
    _ = try sorted.read(from: 0, limit: 1) { ids.append(try $0.value(at: 0)) }
    _ = try sorted.read(from: 1, limit: 1) { ids.append(try $0.value(at: 0)) }
    #expect(ids == [.integer(.min), .integer(.max)])
  }

  @Test("O1 keys of texts, UUIDs and several fields, in the order of their bytes", arguments: [true, false])
  func keys(isDescending: Bool) throws {
    let schema = try ModelSchema(
      name: "Keyed",
      fields: [
        FieldSchema("value", .int64, isOptional: true), FieldSchema("text", .string),
        FieldSchema("uuid", .uuid),
        FieldSchema("number", .int64),
      ], key: ["text", "uuid", "number"], indexes: [IndexSchema(["value"])])
    var random = SeededGenerator(seed: 3)
    var rows: [RecordKey: [PersistentValue]] = [:]
    for _ in 0..<600 {
      let row = schema.fields.map { Fixtures.value($0.kind, optional: $0.isOptional, &random) }
      rows[RecordKey(Array(row.dropFirst()))] = row
    }
    let context = try scratch.open()
    try context.fill(schema, Array(rows.values))
    let reference = MemoryContext()
    try reference.fill(schema, Array(rows.values))
    for order in [[], [FieldOrder("value", isDescending: isDescending)]] {
      let request = try FetchRequest(schema, order: order)
      #expect(try context.values(request) == reference.values(request))
      let results = try context.fetch(request)
      var pages: [[PersistentValue]] = []
      while try results.read(from: pages.count, limit: 37, { pages.append(try $0.values()) }) == 37 {}
      #expect(try pages == reference.values(request))
    }
    for (key, row) in rows {
      var found: [PersistentValue]?
      #expect(try context.find(key, in: schema) { found = try $0.values() })
      #expect(found == row)
    }
  }

  @Test("the file has ordinary tables and types, readable dates, and NaN by name")
  func readability() throws {
    let schema = try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("released", .date, isOptional: true),
        FieldSchema("rating", .double), FieldSchema("price", .decimal), FieldSchema("seen", .bool),
        FieldSchema("tags", .document),
      ], key: ["id"], indexes: [IndexSchema(["title"], isUnique: true), IndexSchema(["rating"])])
    let date = Date(timeIntervalSince1970: 867_196_800.25)
    let price = try #require(Decimal(canonicalText: "12345678901234567890.5"))
    try scratch.open().fill(
      schema,
      [
        [
          .integer(1), .text("Alien's"), .date(date.timeIntervalSinceReferenceDate), .double(.nan),
          .decimal(price),
          .bool(true), .document("[\"a\"]"),
        ]
      ])
    let outsider = try Outsider(scratch.path())
    #expect(
      try outsider.texts("SELECT sql FROM sqlite_schema WHERE name = 'Movie'") == [
        #"CREATE TABLE "Movie" ("id" INTEGER PRIMARY KEY NOT NULL, "title" TEXT, "#
          + #""released" REAL_SECONDS_SINCE_2001, "rating" REAL, "price" DECIMAL_TEXT, "#
          + #""seen" BOOLEAN, "tags" JSON_TEXT)"#
      ])
    #expect(
      try outsider.texts("SELECT sql FROM sqlite_schema WHERE tbl_name = 'Movie' AND type = 'index'") == [
        #"CREATE UNIQUE INDEX "Movie_title_index" ON "Movie" ("title")"#,
        #"CREATE INDEX "Movie_rating_index" ON "Movie" ("rating")"#,
      ])
    #expect(try outsider.texts("SELECT released FROM Movie_utc") == ["1997-06-25T00:00:00.250Z"])
    #expect(try outsider.texts("SELECT rating FROM Movie_utc") == ["NaN"])
    #expect(try outsider.texts("SELECT price FROM Movie") == ["12345678901234567890.5"])
    #expect(try outsider.texts("SELECT json_extract(tags, '$[0]') FROM Movie") == ["a"])
    #expect(try outsider.texts("PRAGMA application_id") == ["\(0x5052_5354)"])
    #expect(try outsider.texts("PRAGMA journal_mode") == ["wal"])
    #expect(try outsider.texts("PRAGMA integrity_check") == ["ok"])
  }

  @Test("E6 hostile names stay different and keep their spelling")
  func hostileNames() throws {
    let names = [
      "", "sqlite_x", "SQLITE_y", "persistence_catalog", "Movie", "movie", "MOVIE", "../../x", "a/b", "CON",
      "quote\"d", "it's", "semi;colon --", "null\u{0}", "null", String(repeating: "x", count: 300),
      String(repeating: "x", count: 299) + "y", "é", "e\u{301}", "Movie_name_index", "Movie_utc", "select",
      "rowid", "table name", "\u{1F600}", "%s", "?1", "model",
    ]
    let context = try scratch.open()
    var schemas: [ModelSchema] = []
    for (number, name) in names.enumerated() {
      let fields = names.map { FieldSchema($0, .string) }
      let schema = try ModelSchema(
        name: name, fields: [FieldSchema("id", .int64)] + fields + [FieldSchema("when", .date)], key: ["id"],
        indexes: [IndexSchema(["\(names[number % 4])"]), IndexSchema(["it's", "quote\"d"], isUnique: true)])
      schemas.append(schema)
      let row =
        [PersistentValue.integer(Int64(number))] + names.indices.map { .text("\(number)-\($0)") } + [.date(0)]
      try context.fill(schema, [row])
    }
    try context.close()
    let again = try scratch.open()
    #expect(try again.catalog().count == names.count)
    for (number, schema) in schemas.enumerated() {
      #expect(try again.count(FetchRequest(schema)) == 1)
      for (offset, name) in names.enumerated() {
        let found = try again.values(
          FetchRequest(
            schema, where: .comparison(field: name, .equal, .text("\(number)-\(offset)")),
            order: [FieldOrder(name)]))
        #expect(found.count == 1)
      }
    }
    try again.transaction { transaction in
      let count = try transaction.deleteAll(in: schemas[4])
      #expect(count == 1)
    }
    #expect(try again.count(FetchRequest(schemas[5])) == 1)
    #expect(try Outsider(scratch.path()).texts("PRAGMA integrity_check") == ["ok"])
  }
}
