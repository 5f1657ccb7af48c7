import Foundation
import PersistenceDriver
import PersistenceSQL
import Testing

/// The SQL text and bindings of requests.
@Suite struct SQLTextTests {
  let schema: ModelSchema
  let table: SQLTable

  init() throws {
    schema = try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("genre", .string, isOptional: true),
        FieldSchema("price", .decimal, isOptional: true), FieldSchema("gross", .int64, isOptional: true),
        FieldSchema("odd \"name\"", .int64),
      ], key: ["id"], indexes: [IndexSchema(["title"], isUnique: true)])
    table = SQLTable(
      name: "Movie", columns: schema.fields.map { SQLColumn($0.name, $0.kind, isOptional: $0.isOptional) },
      key: [0], indexes: [[1]], rowID: "rowid")
  }

  private func text(_ statement: SQLStatement) -> String {
    SQLQueryTranslator.text(of: statement.key, on: table, SQLiteDialect()) + " ← "
      + statement.bindings.map { "\($0)" }.joined(separator: " | ")
  }

  private func condition(_ predicate: PredicateNode) throws -> String {
    let request = try FetchRequest(schema, where: predicate)
    let query = try SQLQuery(request, includingAnchor: true, model: 1)
    return text(query.count(upTo: nil)).replacing("SELECT count(*) FROM main.\"Movie\"", with: "")
      .replacing(" WHERE ", with: "")
  }

  @Test("records of ascending keys are found by a seek each, in the order of the list")
  func ascendingKeys() throws {
    func rows(_ keys: [Int64], isDescending: Bool = false, and other: PredicateNode? = nil) throws -> String {
      let keys = PredicateNode.isIn(field: "id", keys.map { .integer($0) })
      let request = try FetchRequest(
        schema, where: other.map { .conjunction(keys, $0) } ?? keys,
        order: [FieldOrder("id", isDescending: isDescending)])
      let query = try SQLQuery(request, includingAnchor: true, model: 1)
      return text(query.select(.rows, [SQLItem(.field, 0)], limit: 5, offset: 2))
    }
    #expect(
      try rows([1, 3, 4])
        == "SELECT \"id\" FROM (SELECT value AS \"persistence key\" FROM persistence_list(?1)) "
        + "AS \"persistence keys\" CROSS JOIN main.\"Movie\" WHERE \"id\" = \"persistence keys\".\"persistence key\" "
        + "LIMIT ?2 OFFSET ?3 ← [1, 3, 4] | 5 | 2")
    let sorted =
      "SELECT \"id\" FROM main.\"Movie\" WHERE \"id\" IN (SELECT value FROM persistence_list(?1)) ORDER BY \"id\""
    #expect(try rows([1, 3], isDescending: true) == sorted + " DESC LIMIT ?2 OFFSET ?3 ← [1, 3] | 5 | 2")
    #expect(try !rows([1, 3], and: .comparison(field: "genre", .equal, .null)).contains("JOIN"))
  }

  @Test(
    "V6 comparisons and their negations never yield UNKNOWN",
    arguments: [
      (PredicateNode.comparison(field: "genre", .equal, .text("x")), "\"genre\" = ?1 ← 'x'"),
      (.comparison(field: "genre", .equal, .null), "\"genre\" IS NULL ← "),
      (.comparison(field: "genre", .notEqual, .text("x")), "\"genre\" IS NOT ?1 ← 'x'"),
      (.comparison(field: "title", .notEqual, .text("x")), "\"title\" <> ?1 ← 'x'"),
      (
        .not(.comparison(field: "gross", .greater, .integer(5))), "(\"gross\" <= ?1 OR \"gross\" IS NULL) ← 5"
      ),
      (.not(.comparison(field: "id", .greater, .integer(5))), "\"id\" <= ?1 ← 5"),
      (.comparison(field: "gross", .less, .null), "0 ← "),
      (.not(.comparison(field: "gross", .less, .null)), " ← "),
      (
        .isIn(field: "gross", [.integer(1), .null]),
        "\"gross\" IN (SELECT value FROM persistence_list(?1)) OR \"gross\" IS NULL ← [1]"
      ),
      (
        .not(.isIn(field: "gross", [.integer(1)])),
        "(\"gross\" NOT IN (SELECT value FROM persistence_list(?1)) OR \"gross\" IS NULL) ← [1]"
      ),
      (.isIn(field: "gross", []), "0 ← "),
      (
        .not(.isBetween(field: "gross", lower: .integer(1), upper: .integer(2))),
        "(\"gross\" NOT BETWEEN ?1 AND ?2 OR \"gross\" IS NULL) ← 1 | 2"
      ),
      (.fieldComparison(left: "gross", .equal, right: "id"), "\"gross\" IS \"id\" ← "),
      (
        .not(.fieldComparison(left: "gross", .less, right: "id")),
        "(\"gross\" >= \"id\" OR \"gross\" IS NULL) ← "
      ),
      (
        .comparison(field: "price", .less, .decimal(2)),
        "persistence_decimal(\"price\") < persistence_decimal(?1) ← decimal('2')"
      ),
      (.comparison(field: "price", .equal, .decimal(2)), "\"price\" = ?1 ← decimal('2')"),
      (.comparison(field: "odd \"name\"", .equal, .integer(1)), "\"odd \"\"name\"\"\" = ?1 ← 1"),
    ])
  func comparisons(_ predicate: PredicateNode, _ expected: String) throws {
    #expect(try condition(predicate) == expected)
  }

  @Test("V7 a prefix search becomes an index range, and other searches call a function")
  func searches() throws {
    let prefix = PredicateNode.text(field: "title", .hasPrefix, "a%", isCaseInsensitive: false)
    #expect(try condition(prefix) == "\"title\" >= ?1 AND \"title\" < ?2 ← 'a%' | 'a&'")
    let surrogates = PredicateNode.text(field: "title", .hasPrefix, "\u{D7FF}", isCaseInsensitive: false)
    #expect(try condition(surrogates) == "\"title\" >= ?1 AND \"title\" < ?2 ← '\u{D7FF}' | '\u{E000}'")
    let last = PredicateNode.text(field: "title", .hasPrefix, "a\u{10FFFF}", isCaseInsensitive: false)
    #expect(try condition(last) == "\"title\" >= ?1 AND \"title\" < ?2 ← 'a\u{10FFFF}' | 'b'")
    let contains = PredicateNode.text(field: "genre", .contains, "x", isCaseInsensitive: false)
    #expect(try condition(.not(contains)) == "NOT persistence_found(?1, \"genre\") ← search")
  }

  @Test("lowering flattens groups, folds constants and pushes negations down")
  func groups() throws {
    let a = PredicateNode.comparison(field: "id", .equal, .integer(1))
    let b = PredicateNode.comparison(field: "gross", .less, .integer(2))
    #expect(
      try condition(.not(.any([a, .not(.all([b, .constant(true)]))])))
        == "\"id\" <> ?1 AND \"gross\" < ?2 ← 1 | 2")
    #expect(
      try condition(.all([a, .all([b, .any([a, b])])]))
        == "\"id\" = ?1 AND \"gross\" < ?2 AND (\"id\" = ?3 OR \"gross\" < ?4) ← 1 | 2 | 1 | 2")
    #expect(try condition(.any([a, .constant(true)])) == " ← ")
    #expect(try condition(.all([a, .any([])])) == "0 ← ")
    #expect(try condition(.any([.all([a]), .constant(false)])) == "\"id\" = ?1 ← 1")
  }

  @Test("a request has statements for rows, sort keys, row IDs, counts and deletions")
  func requests() throws {
    let request = try FetchRequest(
      schema, where: .comparison(field: "gross", .greater, .integer(1)),
      order: [FieldOrder("title", isDescending: true)], limit: 10)
    let query = try SQLQuery(request, includingAnchor: true, model: 1)
    let columns = #""id", "title", "genre", "price", "gross", "odd ""name""""#
    #expect(
      text(query.select(.rows, limit: 10)) == "SELECT \(columns) FROM main.\"Movie\" WHERE \"gross\" > ?1 "
        + "ORDER BY \"title\" DESC, \"id\" DESC LIMIT ?2 ← 1 | 10")
    #expect(
      text(query.select(.orderKeys, limit: nil, offset: 2)) == "SELECT \"title\", \"id\" FROM main.\"Movie\" "
        + "WHERE \"gross\" > ?1 ORDER BY \"title\" DESC, \"id\" DESC LIMIT ?2 OFFSET ?3 ← 1 | -1 | 2")
    #expect(
      text(query.select(.rows, [SQLItem(.field, 4)], limit: nil)) == "SELECT \"gross\" FROM main.\"Movie\" "
        + "WHERE \"gross\" > ?1 ORDER BY \"title\" DESC, \"id\" DESC ← 1")
    #expect(
      text(query.delete(limit: 10, offset: 0)) == "DELETE FROM main.\"Movie\" WHERE rowid IN (SELECT rowid "
        + "FROM main.\"Movie\" WHERE \"gross\" > ?1 ORDER BY \"title\" DESC, \"id\" DESC LIMIT ?2) ← 1 | 10")
    #expect(
      text(query.count(upTo: 3))
        == "SELECT count(*) FROM (SELECT 1 FROM main.\"Movie\" WHERE \"gross\" > ?1 LIMIT ?2) ← 1 | 3")
    #expect(
      text(query.delete(limit: nil, offset: 0)) == "DELETE FROM main.\"Movie\" WHERE \"gross\" > ?1 ← 1")
  }

  @Test("aggregates and bulk updates over a condition and over a page")
  func computations() throws {
    let request = try FetchRequest(
      schema, where: .comparison(field: "gross", .greater, .integer(1)), order: [FieldOrder("title")])
    let query = try SQLQuery(request, includingAnchor: true, model: 1)
    let items = [SQLItem(.field, 3), SQLItem(.count), SQLItem(.sum, 4), SQLItem(.maximum, 1)]
    #expect(
      text(query.aggregates(items, limit: nil, offset: 0))
        == "SELECT \"price\", count(*), sum(\"gross\"), max(\"title\") FROM main.\"Movie\" WHERE \"gross\" > ?1 "
        + "GROUP BY persistence_decimal(\"price\") ORDER BY persistence_decimal(\"price\") ← 1")
    #expect(
      text(query.aggregates([SQLItem(.minimum, 4), SQLItem(.countOfValues, 4)], limit: 5, offset: 2))
        == "SELECT min(\"gross\"), count(\"gross\") FROM (SELECT \"gross\" FROM main.\"Movie\" WHERE \"gross\" > ?1 "
        + "ORDER BY \"title\", \"id\" LIMIT ?2 OFFSET ?3) ← 1 | 5 | 2")
    #expect(
      text(query.set([(1, .text("x")), (4, .null)], limit: nil, offset: 0))
        == "UPDATE main.\"Movie\" SET \"title\" = ?1, \"gross\" = ?2 WHERE \"gross\" > ?3 ← 'x' | nil | 1")
    #expect(
      text(query.set([(4, .integer(7))], limit: 3, offset: 0))
        == "UPDATE main.\"Movie\" SET \"gross\" = ?1 WHERE rowid IN (SELECT rowid FROM main.\"Movie\" "
        + "WHERE \"gross\" > ?2 ORDER BY \"title\", \"id\" LIMIT ?3) ← 7 | 1 | 3")
  }

  @Test("O2 O3 a sequence of seeks finds the rows after a position")
  func seeks() throws {
    let request = try FetchRequest(
      schema, order: [FieldOrder("genre"), FieldOrder("gross", isDescending: true)])
    let query = try SQLQuery(request, includingAnchor: false, model: 1)
    func seeks(_ values: [PersistentValue]) -> [String] {
      query.seeks(after: values, in: table).map { seek in
        text(query.select(.rowIDs, after: seek, limit: 1))
          .replacing("SELECT rowid FROM main.\"Movie\" WHERE ", with: "")
          .replacing(" ORDER BY \"genre\", \"gross\" DESC, \"id\" DESC", with: "")
      }
    }
    #expect(
      seeks([.text("x"), .integer(5), .integer(9)]) == [
        "\"genre\" = ?1 AND \"gross\" = ?2 AND \"id\" < ?3 LIMIT ?4 ← 'x' | 5 | 9 | 1",
        "\"genre\" = ?1 AND \"gross\" < ?2 LIMIT ?3 ← 'x' | 5 | 1",
        "\"genre\" = ?1 AND \"gross\" IS NULL LIMIT ?2 ← 'x' | 1",
        "\"genre\" > ?1 LIMIT ?2 ← 'x' | 1",
      ])
    #expect(
      seeks([.null, .null, .integer(9)]) == [
        "\"genre\" IS NULL AND \"gross\" IS NULL AND \"id\" < ?1 LIMIT ?2 ← 9 | 1",
        "\"genre\" IS NOT NULL LIMIT ?1 ← 1",
      ])
  }

  @Test(
    "a bound at the same end as the seek does not use the index, so that each page starts at its seek")
  func bounds() throws {
    func lastSeek(_ predicate: PredicateNode, isDescending: Bool) throws -> String {
      let order = [FieldOrder("title", isDescending: isDescending)]
      let query = try SQLQuery(
        FetchRequest(schema, where: predicate, order: order), includingAnchor: false, model: 1)
      let last = try #require(query.seeks(after: [.text("m"), .integer(1)], in: table).last)
      return text(query.select(.rowIDs, after: last, limit: 1))
        .replacing("SELECT rowid FROM main.\"Movie\" WHERE ", with: "")
        .components(separatedBy: " ORDER").first ?? ""
    }
    let range = PredicateNode.isBetween(field: "title", lower: .text("a"), upper: .text("z"))
    #expect(
      try lastSeek(range, isDescending: false)
        == #"(+"title" >= ?1 AND "title" <= ?2) AND ("title" > ?3)"#)
    #expect(
      try lastSeek(range, isDescending: true)
        == #"("title" >= ?1 AND +"title" <= ?2) AND ("title" < ?3)"#)
    let prefix = PredicateNode.text(field: "title", .hasPrefix, "a", isCaseInsensitive: false)
    #expect(
      try lastSeek(prefix, isDescending: false)
        == #"(+"title" >= ?1 AND "title" < ?2) AND ("title" > ?3)"#)
  }

  @Test("statements over one record number their parameters by field position")
  func records() {
    func text(_ kind: StatementKey.Kind) -> String {
      SQLQueryTranslator.text(of: StatementKey(kind, model: 1), on: table, SQLiteDialect())
    }
    let columns = #""id", "title", "genre", "price", "gross", "odd ""name""""#
    #expect(text(.find) == "SELECT \(columns) FROM main.\"Movie\" WHERE \"id\" = ?1")
    #expect(text(.insert) == "INSERT INTO main.\"Movie\" (\(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
    #expect(
      text(.update) == "UPDATE main.\"Movie\" SET \"title\" = ?2, \"genre\" = ?3, \"price\" = ?4, "
        + "\"gross\" = ?5, \"odd \"\"name\"\"\" = ?6 WHERE \"id\" = ?1")
    #expect(
      text(.save).hasSuffix(
        " ON CONFLICT (\"id\") DO UPDATE SET \"title\" = excluded.\"title\", \"genre\" = excluded.\"genre\", "
          + "\"price\" = excluded.\"price\", \"gross\" = excluded.\"gross\", "
          + "\"odd \"\"name\"\"\" = excluded.\"odd \"\"name\"\"\""))
    #expect(text(.deleteKey) == "DELETE FROM main.\"Movie\" WHERE \"id\" = ?1")
    #expect(text(.holder) == "SELECT \"id\" FROM main.\"Movie\" WHERE \"title\" = ?1 LIMIT 1")
  }

  @Test("requests that differ only in values have one statement key, and others do not")
  func statementKeys() throws {
    func key(_ predicate: PredicateNode, _ order: [FieldOrder] = []) throws -> StatementKey {
      let request = try FetchRequest(schema, where: predicate, order: order)
      return try SQLQuery(request, includingAnchor: true, model: 1).select(.rows, limit: 10).key
    }
    let one = PredicateNode.comparison(field: "gross", .less, .integer(1))
    let two = PredicateNode.comparison(field: "gross", .less, .integer(2))
    #expect(try key(one) == key(two))
    #expect(
      try key(.isIn(field: "gross", [.integer(1)]))
        == key(.isIn(field: "gross", (0..<500).map { .integer($0) })))
    #expect(try key(one) != key(.comparison(field: "id", .less, .integer(1))))
    #expect(try key(one) != key(.not(one)))
    #expect(try key(one) != key(one, [FieldOrder("title")]))
    #expect(try key(one, [FieldOrder("title")]) != key(one, [FieldOrder("title", isDescending: true)]))
  }

  @Test("a cache finds a statement by its parts exactly if their keys are equal")
  func parts() throws {
    let gross: [PersistentValue] = [.integer(1), .integer(2), .null]
    var conditions: [PredicateNode?] = [nil, .constant(false)]
    for comparison in [ComparisonOperator.equal, .notEqual, .less, .lessOrEqual] {
      conditions += gross.map { .comparison(field: "gross", comparison, $0) }
    }
    conditions += [[], [gross[0]], [gross[0], gross[1]]].map { .isIn(field: "gross", $0) }
    conditions += ["a", "a%_", ""].map {
      .text(field: "title", .hasPrefix, $0, isCaseInsensitive: false)
    }
    var statements: [SQLStatement] = []
    for condition in conditions {
      for order in [[], [FieldOrder("title")], [FieldOrder("title", isDescending: true)]] {
        let request = try FetchRequest(schema, where: condition, order: order)
        let query = try SQLQuery(request, includingAnchor: true, model: 1)
        statements += [
          query.select(.rows, limit: 1), query.select(.rows, limit: nil), query.select(.rowIDs, limit: 1),
          query.select(.rows, [SQLItem(.field, 0)], limit: 1, offset: 2), query.count(upTo: nil),
        ]
        statements += query.seeks(after: [.text("a"), .integer(1)], in: table).map {
          query.select(.rows, after: $0, limit: 1)
        }
      }
    }
    let keys = statements.map { $0.key }
    for (statement, key) in zip(statements, keys) {
      #expect(statement.hash == key.hash)
      for other in keys { try #require(statement.matches(other) == (key == other)) }
    }
  }

  @Test("the evaluator takes conditions that are too long or too deep for SQL, up to a number of fields")
  func beyondSQL() throws {
    let leaf = PredicateNode.comparison(field: "gross", .less, .integer(1))
    var deep = leaf
    for level in 0..<60 { deep = level % 2 == 0 ? .any([leaf, deep]) : .all([leaf, deep]) }
    #expect(try condition(deep).contains("persistence_holds(?13, \"gross\")"))
    let long = PredicateNode.any((0..<10_000).map { .comparison(field: "id", .equal, .integer(Int64($0))) })
    #expect(try condition(long) == "persistence_holds(?1, \"id\") ← condition over [0]")
    let fields = [FieldSchema("id", .int64)] + (0..<200).map { FieldSchema("f\($0)", .int64) }
    let wide = try ModelSchema(name: "Wide", fields: fields, key: ["id"])
    var nested = PredicateNode.constant(true)
    for number in 0..<200 {
      let leaf = PredicateNode.comparison(field: "f\(number)", .less, .integer(1))
      nested = number % 2 == 0 ? .any([leaf, nested]) : .all([leaf, nested])
    }
    let request = try FetchRequest(wide, where: nested)
    #expect {
      try SQLQuery(request, includingAnchor: true, model: 1)
    } throws: { ($0 as? PersistenceError)?.code == .invalidRequest }
  }
}
