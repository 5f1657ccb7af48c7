#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistencePrimitives
  import Testing

  @testable import PersistencePostgres

  /// Conditions and orders over tables of other programs.
  @Suite(.withServer) struct ForeignQueryTests {
    private static let everything = [
      "CREATE TYPE $.mood AS ENUM ('sad', 'ok', 'happy')",
      "CREATE COLLATION $.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      """
      CREATE TABLE $.t (id int PRIMARY KEY, b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric,
        plain text COLLATE "C", icu text COLLATE "und-x-icu", other text COLLATE "und-x-icu",
        folded text COLLATE $.nocase, padded char(4), mood $.mood, js json, jb jsonb, bytes bytea, u uuid,
        tz timestamptz, ts timestamp, day date)
      """,
      """
      INSERT INTO $.t VALUES (1, true, 1, -1, 5, 0.5, 0.1, 1.50, 'a', 'a', 'B', 'a', 'ab', 'ok', '1', '1', '\\x00',
        '00000000-0000-0000-0000-000000000001', '2001-01-01 00:00:00.5+00', '2001-01-01 12:00:00', '2001-01-02')
      """,
      """
      INSERT INTO $.t VALUES (2, false, -2, 7, -5, 'NaN', 'Infinity', 'NaN', 'B', 'B', 'a', 'A', 'a', 'sad', '[]', '[]',
        '\\xff', 'ffffffff-0000-0000-0000-000000000001', 'infinity', '-infinity', 'infinity')
      """,
      "INSERT INTO $.t (id) VALUES (3)",
      """
      INSERT INTO $.t VALUES (4, true, 1, 7, 5, -1.5, -0.0, -3, 'é', 'Ä', 'Ä', 'B', '', 'happy', '1', '1', '\\x',
        '00000000-0000-0000-0000-000000000000', '1969-07-20 20:17:00.000001+00', '2001-01-01 00:00:00',
        '2000-12-31')
      """,
    ]

    /// The values of a field, and some beside them.
    private func operands(_ field: FieldSchema, _ values: [PersistentValue]) -> [PersistentValue] {
      let others: [PersistentValue] =
        switch field.kind.tag {
        case .integer: [.integer(0), .integer(.max)]
        case .double: [.double(0), .double(.nan), .double(-.infinity)]
        case .text: [.text(""), .text("A"), .text("b"), .text("z\u{0}"), .text("ok")]
        case .decimal: [.decimal(0), .decimal(1.5)]
        case .date: [.date(0.1), .date(0.50000001), .date(43_200), .date(86_401), .date(.nan), .date(1e300)]
        default: []
        }
      return Array(Set(values + others)).filter { !$0.isNull }
    }

    @Test("V3 V4 V6 conditions that the server evaluates are true where the client's are, on each type")
    func conditions() throws {
      let foreign = try ForeignScratch(Self.everything)
      let context = try foreign.open()
      let t = try context.model("t")
      let rows = try context.values(FetchRequest(t))
      #expect(rows.count == 4)
      func check(_ node: PredicateNode) throws {
        let predicate = try CompiledPredicate(node, in: t)
        let buffer = RowBuffer(count: t.fields.count)
        let expected = try rows.filter { row in
          buffer.set(row)
          return try buffer.withRow { try predicate.matches($0) }
        }.map { $0[0] }
        #expect(try context.column("id", FetchRequest(t, where: node)) == expected, "\(node)")
      }
      for (position, field) in t.fields.enumerated() {
        let operands = operands(field, rows.map { $0[position] })
        for value in operands {
          for comparison in [
            ComparisonOperator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
          ] {
            let node = PredicateNode.comparison(field: field.name, comparison, value)
            try check(node)
            try check(.not(node))
          }
          try check(.isBetween(field: field.name, lower: operands[0], upper: value))
          try check(.isIn(field: field.name, [operands[0], value]))
          try check(.not(.isIn(field: field.name, [value])))
        }
        if field.kind == .string {
          for (search, needle) in [
            (TextOperator.contains, "a"), (.hasPrefix, "A"), (.hasSuffix, "b"), (.like, "a%"),
          ] {
            for isCaseInsensitive in [false, true] {
              try check(.text(field: field.name, search, needle, isCaseInsensitive: isCaseInsensitive))
            }
          }
        }
      }
      for (left, right) in [
        ("icu", "plain"), ("icu", "other"), ("folded", "icu"), ("tz", "ts"), ("i2", "i8"),
      ] {
        try check(.fieldComparison(left: left, .less, right: right))
        try check(.fieldComparison(left: left, .equal, right: right))
      }
      try context.close()
    }

    @Test("O2 O3 orders and aggregates are those of models, whatever collations and types the columns have")
    func orders() throws {
      let foreign = try ForeignScratch(Self.everything)
      let context = try foreign.open()
      let t = try context.model("t")
      let copy = MemoryContext()
      try copy.transaction { transaction in
        try transaction.define(t)
        for row in try context.values(FetchRequest(t)) { try transaction.insert(row, in: t) }
      }
      for field in t.fields {
        for isDescending in [false, true] {
          let request = try FetchRequest(t, order: [FieldOrder(field.name, isDescending: isDescending)])
          #expect(try context.column("id", request) == copy.column("id", request), "\(field)")
        }
        let groups = try AggregateRequest(
          FetchRequest(t), grouping: [field.name],
          aggregates: [.count, .minimum(of: field.name), .maximum(of: field.name), .sum(of: "i4")])
        #expect(try context.aggregate(groups) == copy.aggregate(groups), "\(field)")
        let whole = try AggregateRequest(
          FetchRequest(t, limit: 3), aggregates: [.minimum(of: field.name), .average(of: "i2")])
        #expect(try context.aggregate(whole) == copy.aggregate(whole), "\(field)")
      }
      try context.close()
    }

    @Test("the server evaluates conditions on dates and texts, and finds equal texts by their index")
    func plans() throws {
      let foreign = try ForeignScratch([
        "CREATE TABLE $.t (id text COLLATE \"und-x-icu\" PRIMARY KEY, at timestamptz NOT NULL, day date NOT NULL)",
        "INSERT INTO $.t SELECT 'key ' || n, 'epoch'::timestamptz + n * interval '1 h', date '2000-01-01' + n "
          + "FROM generate_series(1, 5000) AS n",
        "CREATE INDEX ON $.t (at)", "ANALYZE $.t",
      ])
      let context = try foreign.open()
      let t = try context.model("t")
      let isKey = try FetchRequest(t, where: .comparison(field: "id", .equal, .text("key 17")))
      #expect(try context.plan(for: isKey).access == .primaryKey)
      #expect(try context.count(isKey) == 1)
      let day = PersistentValue.date(-349 * 86_400)
      #expect(try context.record([.text("key 17")], in: t)?[2] == day)
      // A date between two moments.
      let date: Double = -978_271_199.999_999_6
      let since = try FetchRequest(t, where: .comparison(field: "at", .lessOrEqual, .date(date)))
      let plan = try context.plan(for: since)
      #expect(plan.residual == nil && plan.access == .index(["at"]))
      #expect(try context.count(since) == 10)
      let days = try FetchRequest(
        t, where: .isBetween(field: "day", lower: .date(-86_400 * 365 - 1), upper: .date(-86_400 * 364 + 1)))
      #expect(try context.count(days) == 2)
      // Pages, jumps and anchors.
      let request = try FetchRequest(t, order: [FieldOrder("day", isDescending: true)])
      let results = try context.fetch(request)
      #expect(try results.count() == 5_000)
      var found: [PersistentValue] = []
      _ = try results.read(from: 4_000, limit: 2) { found.append(try $0.value(at: 0)) }
      #expect(found == [.text("key 1000"), .text("key 999")])
      try context.close()
    }
  }
#endif
