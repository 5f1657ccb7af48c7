#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistencePrimitives
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Values of the types of other programs' columns.
  @Suite(.withServer) struct ForeignValueTests {
    /// A table with an optional column `v` of a type, and its model.
    private func table(_ type: String, _ statements: [String] = []) throws -> (
      ForeignScratch, PostgresContext, ModelSchema
    ) {
      let foreign = try ForeignScratch(
        ["CREATE TYPE $.mood AS ENUM ('sad', 'ok')", "CREATE TABLE $.t (id int PRIMARY KEY, v \(type))"]
          + statements)
      let context = try foreign.open()
      return (foreign, context, try context.model("t"))
    }

    private static func decimal(_ text: String) -> PersistentValue {
      .decimal(Decimal(canonicalText: text) ?? .nan)
    }

    /// The seconds of a day since 2001.
    private static func day(_ days: Double) -> PersistentValue { .date(days * 86_400) }

    static let types: [(String, FieldKind, [PersistentValue], [String])] = [
      ("bool", .bool, [.bool(true), .bool(false)], ["true", "false"]),
      ("int2", .int64, [.integer(-32_768), .integer(32_767)], ["-32768", "32767"]),
      ("int4", .int64, [.integer(-2_147_483_648), .integer(2_147_483_647)], ["-2147483648", "2147483647"]),
      ("int8", .int64, [.integer(.min), .integer(.max)], ["-9223372036854775808", "9223372036854775807"]),
      (
        "float4", .float,
        [.double(0.5), .double(Double(Float.greatestFiniteMagnitude)), .double(.infinity), .double(.nan)],
        ["0.5", "3.4028235e+38", "Infinity", "NaN"]
      ),
      (
        "float8", .double,
        [.double(0.1), .double(.leastNonzeroMagnitude), .double(-.infinity), .double(.nan)],
        ["0.1", "5e-324", "-Infinity", "NaN"]
      ),
      (
        "numeric", .decimal,
        [
          decimal("0.00000000000000000000000000000000000001"),
          decimal("12345678901234567890123456789012345678"),
          .decimal(.nan), decimal("-1.5"),
        ],
        [
          "0.00000000000000000000000000000000000001", "12345678901234567890123456789012345678", "NaN", "-1.5",
        ]
      ),
      ("numeric(4,2)", .decimal, [decimal("-99.99"), decimal("1")], ["-99.99", "1.00"]),
      ("text", .string, [.text(""), .text("a\u{1}é\u{10FFFF}")], ["", "a\u{1}é\u{10FFFF}"]),
      ("varchar(3)", .string, [.text("a😀 "), .text("  ")], ["a😀 ", "  "]),
      ("char(4)", .string, [.text(" ab"), .text("")], [" ab", ""]),
      ("$.mood", .string, [.text("sad"), .text("ok")], ["sad", "ok"]),
      ("json", .string, [.text("{\"b\":1,  \"a\": 1}")], ["{\"b\":1,  \"a\": 1}"]),
      ("jsonb", .string, [.text("{\"a\": 1, \"b\": [1.50]}")], ["{\"a\": 1, \"b\": [1.50]}"]),
      ("bytea", .data, [.bytes([]), .bytes([0, 1, 255])], ["\\x", "\\x0001ff"]),
      (
        "uuid", .uuid, [.uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255)))],
        ["00010203-0405-0607-0809-0a0b0c0d0eff"]
      ),
      (
        "timestamptz", .date,
        [
          .date(0.000001), .date(-.infinity), .date(.infinity), .date(-211_810_291_200), .date(700_000_000.5),
        ],
        [
          "2001-01-01 00:00:00.000001+00", "-infinity", "infinity", "4713-12-31 00:00:00+00 BC",
          "2023-03-08 20:26:40.5+00",
        ]
      ),
      (
        "timestamp", .date, [.date(-1), .date(.infinity)], ["2000-12-31 23:59:59", "infinity"]
      ),
      ("timestamp(0)", .date, [.date(-1)], ["2000-12-31 23:59:59"]),
      (
        "date", .date, [day(0), day(-730_485), .date(-.infinity)], ["2001-01-01", "0001-01-01", "-infinity"]
      ),
    ]

    @Test("V2 each type keeps its extremes, read and written", arguments: types)
    func roundTrips(_ type: String, _ kind: FieldKind, _ values: [PersistentValue], _ texts: [String]) throws
    {
      let (foreign, context, t) = try table(type)
      #expect(t.fields[1] == FieldSchema("v", kind, isOptional: true))
      let rows = (values + [.null]).enumerated().map { [PersistentValue.integer(Int64($0)), $1] }
      try context.transaction { transaction in
        for row in rows {
          try transaction.insert([row[0], .null], in: t)
          try transaction.save(row, in: t)
        }
      }
      let stored = try foreign.run(["SET TIME ZONE 'UTC'", "SELECT v::text FROM $.t ORDER BY id"])[1]
      #expect((0..<stored.count).map { stored.text($0, 0) ?? "NULL" } == texts + ["NULL"])
      #expect(try context.values(FetchRequest(t)) == rows)
      for row in rows { #expect(try context.record([row[0]], in: t) == row) }
      // What the other program writes reads alike.
      let literals = texts.enumerated().map {
        "(\(100 + $0), \(PostgresLiteral.text(of: .text($1)))::text::\(type))"
      }
      if !texts.contains(where: { $0.contains("\u{1}") }) {
        try foreign.run(["SET TIME ZONE 'UTC'", "INSERT INTO $.t VALUES \(literals.joined(separator: ", "))"])
        let read = try context.column(
          "v", FetchRequest(t, where: .comparison(field: "id", .greater, .integer(99))))
        #expect(read == values)
      }
      try context.close()
    }

    @Test(
      "E2 a stored value that its kind does not represent is named, with column and type, and other rows are read",
      arguments: [
        ("numeric", "'Infinity'"), ("numeric", "1e200"),
        ("numeric", "1234567890123456789012345678901234567890.1"),
        ("timestamptz", "'4713-01-01 00:00:00.000001+00 BC'"),
        ("timestamp", "'294276-12-31 23:59:59.999999'"),
      ])
    func unreadable(_ type: String, _ literal: String) throws {
      let (_, context, t) = try table(type, ["INSERT INTO $.t VALUES (1, \(literal)), (2, NULL)"])
      let error = failure { _ = try context.values(FetchRequest(t)) }
      #expect(error?.code == .damaged && error?.model == "t" && error?.field == "v")
      let declared = ["timestamptz": "timestamp with time zone", "timestamp": "timestamp without time zone"][
        type]
      #expect(error?.message.contains("“v” of type \(declared ?? type)") == true)
      #expect(code { _ = try context.record([.integer(1)], in: t) } == .damaged)
      #expect(try context.record([.integer(2)], in: t) == [.integer(2), .null])
      try context.close()
    }

    static let refusals: [(String, PersistentValue, PersistenceError.Code)] = [
      ("int2", .integer(32_768), .invalidRequest), ("int4", .integer(.max), .invalidRequest),
      ("float4", .double(0.1), .invalidRequest), ("float4", .double(1e300), .invalidRequest),
      ("numeric(4,2)", decimal("1.234"), .invalidRequest), ("numeric(4,2)", decimal("100"), .valueTooLarge),
      ("text", .text("a\u{0}"), .invalidRequest), ("varchar(3)", .text("abcd"), .valueTooLarge),
      ("varchar(3)", .text("abc "), .valueTooLarge), ("char(3)", .text("a "), .invalidRequest),
      ("$.mood", .text("happy"), .invalidRequest), ("json", .text("{"), .invalidRequest),
      ("jsonb", .text("{\"a\":1}"), .invalidRequest), ("jsonb", .text("x"), .invalidRequest),
      ("timestamptz", .date(.nan), .invalidRequest), ("timestamptz", .date(1e15), .invalidRequest),
      ("timestamp(3)", .date(0.0001), .invalidRequest), ("date", .date(1), .invalidRequest),
    ]

    @Test(
      "W7 a value that its column would refuse or change is refused, and the transaction goes on",
      arguments: refusals)
    func refused(_ type: String, _ value: PersistentValue, _ expected: PersistenceError.Code) throws {
      let (_, context, t) = try table(type)
      try context.transaction { transaction in
        try transaction.insert([.integer(1), .null], in: t)
        let error = failure { try transaction.insert([.integer(2), value], in: t) }
        #expect(
          error?.code == expected && error?.model == "t" && error?.key == RecordKey([.integer(2)]),
          "\(error as Any)")
        let rows = try FetchRequest(t)
        let updated = code {
          _ = try transaction.update(UpdateRequest(rows, set: [FieldAssignment("v", value)]))
        }
        #expect(updated == expected)
      }
      #expect(try context.values(FetchRequest(t)) == [[.integer(1), .null]])
      try context.close()
    }

    @Test(
      "W7 a bulk update sets a property of any type to nil",
      arguments: [
        ("jsonb", PersistentValue.text("{\"a\": 1}")), ("json", .text("{}")), ("$.mood", .text("ok")),
        ("timestamptz", .date(0)), ("timestamp", .date(0)), ("date", .date(0)), ("int2", .integer(1)),
        ("float4", .double(0.5)), ("numeric", decimal("1.5")), ("char(4)", .text("ab")),
        ("bytea", .bytes([0, 1])), ("uuid", .uuid(UUID())), ("bool", .bool(true)),
      ])
    func unset(_ type: String, _ value: PersistentValue) throws {
      let (_, context, t) = try table(type)
      try context.transaction { transaction in
        try transaction.insert([.integer(1), value], in: t)
        for new in [.null, value, .null] as [PersistentValue] {
          let update = try UpdateRequest(FetchRequest(t), set: [FieldAssignment("v", new)])
          #expect(try transaction.update(update) == 1)
          #expect(try transaction.record([.integer(1)], in: t) == [.integer(1), new])
        }
      }
      #expect(try context.values(FetchRequest(t)) == [[.integer(1), .null]])
      try context.close()
    }

    @Test("columns of other types are no fields, and a declaration with one is told why")
    func otherTypes() throws {
      let types = [
        "int[]", "interval", "time", "money", "inet", "point", "int4range", "xml", "bit(3)", "tsvector",
      ]
      let columns = types.enumerated().map { "c\($0) \($1)" }
      let foreign = try ForeignScratch([
        "CREATE TABLE $.t (id int PRIMARY KEY, \(columns.joined(separator: ", ")))",
        "INSERT INTO $.t (id) VALUES (1)",
      ])
      let context = try foreign.open()
      #expect("\(try context.model("t"))" == "t(id: int64 key)")
      let omitted = try context.unmappedObjects().filter { $0.kind == .column }
      #expect(omitted.count == types.count)
      #expect(omitted[0].detail.contains("integer[]"))
      try context.transaction { transaction in
        let t = try transaction.model("t")
        // A record that has its key only is there or not.
        try transaction.update([.integer(1)], in: t)
        try transaction.save([.integer(2)], in: t)
        #expect(code { try transaction.update([.integer(3)], in: t) } == .notFound)
      }
      #expect(try foreign.texts("SELECT id::text FROM $.t ORDER BY id") == ["1", "2"])
      try context.close()
    }
  }
#endif
