import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Testing

/// The SQL text and bindings of requests in PostgreSQL's dialect.
@Suite struct PostgresTextTests {
  let schema: ModelSchema
  let table: SQLTable
  let dialect = PostgresDialect(schema: "app")

  init() throws {
    schema = try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("genre", .string, isOptional: true),
        FieldSchema("price", .decimal, isOptional: true), FieldSchema("gross", .int64, isOptional: true),
        FieldSchema("extra", .document, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["title"], isUnique: true)])
    table = SQLTable(
      name: "Movie", columns: schema.fields.map { SQLColumn($0.name, $0.kind, isOptional: $0.isOptional) },
      key: [0], indexes: [[1]], rowID: nil)
  }

  private func query(_ request: FetchRequest) throws -> SQLQuery {
    SQLQuery(
      try LoweredPredicate(request.predicateWithAnchor, in: schema, dialect),
      order: try SQLOrder(request.totalOrder, in: schema), model: 1)
  }

  private func text(_ statement: SQLStatement) -> String {
    SQLQueryTranslator.text(of: statement.key, on: table, dialect) + " ← "
      + statement.bindings.map { "\($0)" }.joined(separator: " | ")
  }

  private func condition(_ predicate: PredicateNode) throws -> String {
    text(try query(FetchRequest(schema, where: predicate)).count(upTo: nil))
      .replacing("SELECT pg_catalog.count(*) FROM \"app\".\"Movie\"", with: "").replacing(" WHERE ", with: "")
  }

  @Test(
    "V6 comparisons and their negations never yield UNKNOWN",
    arguments: [
      (PredicateNode.comparison(field: "genre", .equal, .text("x")), "\"genre\" = $1 ← 'x'"),
      (.comparison(field: "genre", .equal, .null), "\"genre\" IS NULL ← "),
      (.comparison(field: "genre", .notEqual, .text("x")), "\"genre\" IS DISTINCT FROM $1 ← 'x'"),
      (.comparison(field: "title", .notEqual, .text("x")), "\"title\" <> $1 ← 'x'"),
      (
        .not(.comparison(field: "gross", .greater, .integer(5))), "(\"gross\" <= $1 OR \"gross\" IS NULL) ← 5"
      ),
      (.comparison(field: "gross", .less, .null), "FALSE ← "),
      (.isIn(field: "gross", [.integer(1), .null]), "\"gross\" = ANY($1) OR \"gross\" IS NULL ← [1]"),
      (.not(.isIn(field: "gross", [.integer(1)])), "(\"gross\" <> ALL($1) OR \"gross\" IS NULL) ← [1]"),
      (
        .not(.isBetween(field: "gross", lower: .integer(1), upper: .integer(2))),
        "(\"gross\" NOT BETWEEN $1 AND $2 OR \"gross\" IS NULL) ← 1 | 2"
      ),
      (.fieldComparison(left: "gross", .equal, right: "id"), "\"gross\" IS NOT DISTINCT FROM \"id\" ← "),
      (.comparison(field: "price", .less, .decimal(2)), "\"price\" < $1 ← decimal('2')"),
      (
        .comparison(field: "extra", .notEqual, .document("[]")),
        "\"extra\"::text IS DISTINCT FROM $1::text ← document([])"
      ),
    ])
  func comparisons(_ predicate: PredicateNode, _ expected: String) throws {
    #expect(try condition(predicate) == expected)
  }

  @Test(
    "V7 searches become patterns where the server agrees with the contract, and calls of the evaluator elsewhere"
  )
  func searches() throws {
    func search(_ search: TextOperator, _ needle: String, anyCase: Bool = false) throws -> String {
      try condition(.text(field: "genre", search, needle, isCaseInsensitive: anyCase))
    }
    #expect(try search(.hasPrefix, "a%") == "\"genre\" >= $1 AND \"genre\" < $2 ← 'a%' | 'a&'")
    #expect(try search(.contains, "a%\\_") == #""genre" LIKE $1 ← '%a\%\\\_%'"#)
    #expect(try search(.hasSuffix, "é") == "\"genre\" LIKE $1 ← '%é'")
    #expect(try search(.like, "a%b") == "\"genre\" LIKE $1 ← 'a%b'")
    let folded = "pg_catalog.replace(pg_catalog.replace(\"genre\", '\u{212A}', 'k'), '\u{130}', 'i\u{307}')"
    #expect(try search(.contains, "k", anyCase: true) == "\(folded) ILIKE $1 ← '%k%'")
    for (kind, needle, anyCase) in [
      (TextOperator.like, "a_b", false), (.contains, "é", true), (.contains, "\u{1}", false),
      (.matches, "a+", false),
    ] {
      #expect(try search(kind, needle, anyCase: anyCase).contains("condition over"), "\(kind) \(needle)")
    }
    let contains = PredicateNode.text(field: "genre", .contains, "x", isCaseInsensitive: false)
    #expect(try condition(.not(contains)) == "(\"genre\" NOT LIKE $1 OR \"genre\" IS NULL) ← '%x%'")
  }

  @Test("O2 O3 NULL comes first ascending and last descending, and fields without NULL have no clause")
  func orders() throws {
    let request = try FetchRequest(
      schema, order: [FieldOrder("genre"), FieldOrder("title", isDescending: true)], limit: 10, offset: 2)
    #expect(
      text(try query(request).select(.rows, [SQLItem(.field, 4)], limit: 10, offset: 2))
        == "SELECT \"gross\" FROM \"app\".\"Movie\" ORDER BY \"genre\" NULLS FIRST, \"title\" DESC, \"id\" DESC "
        + "LIMIT $1 OFFSET $2 ← 10 | 2")
    let last = try FetchRequest(schema, order: [FieldOrder("gross", isDescending: true)])
    #expect(
      text(try query(last).delete(limit: 3, offset: 0))
        == "DELETE FROM \"app\".\"Movie\" WHERE (\"id\") IN (SELECT \"id\" FROM \"app\".\"Movie\" "
        + "ORDER BY \"gross\" DESC NULLS LAST, \"id\" DESC LIMIT $1) ← 3")
  }

  @Test("aggregates and bulk updates over a condition and over a page")
  func computations() throws {
    let request = try FetchRequest(schema, where: .comparison(field: "gross", .greater, .integer(1)))
    let query = try query(request)
    #expect(
      text(query.aggregates([SQLItem(.field, 3), SQLItem(.sum, 4)], limit: nil, offset: 0))
        == "SELECT \"price\", pg_catalog.sum(\"gross\") FROM \"app\".\"Movie\" WHERE \"gross\" > $1 "
        + "GROUP BY \"price\" ORDER BY \"price\" NULLS FIRST ← 1")
    #expect(
      text(query.aggregates([SQLItem(.minimum, 4)], limit: 5, offset: 0))
        == "SELECT pg_catalog.min(\"gross\") FROM (SELECT \"gross\" FROM \"app\".\"Movie\" WHERE \"gross\" > $1 "
        + "ORDER BY \"id\" LIMIT $2) AS page ← 1 | 5")
    #expect(
      text(query.count(upTo: 3))
        == "SELECT pg_catalog.count(*) FROM (SELECT 1 FROM \"app\".\"Movie\" WHERE \"gross\" > $1 LIMIT $2) AS page ← 1 | 3"
    )
    #expect(
      text(query.set([(5, .document("{}"))], limit: nil, offset: 0))
        == "UPDATE \"app\".\"Movie\" SET \"extra\" = $1 WHERE \"gross\" > $2 ← document({}) | 1")
  }

  @Test("statements over one record number their parameters by field position")
  func records() {
    func text(_ kind: StatementKey.Kind) -> String {
      SQLQueryTranslator.text(of: StatementKey(kind, model: 1), on: table, dialect)
    }
    let columns = #""id", "title", "genre", "price", "gross", "extra""#
    #expect(text(.find) == "SELECT \(columns) FROM \"app\".\"Movie\" WHERE \"id\" = $1")
    #expect(
      text(.insertIfAbsent)
        == "INSERT INTO \"app\".\"Movie\" (\(columns)) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING"
    )
    #expect(text(.save).contains(" ON CONFLICT (\"id\") DO UPDATE SET \"title\" = excluded.\"title\", "))
    #expect(text(.deleteKey) == "DELETE FROM \"app\".\"Movie\" WHERE \"id\" = $1")
    #expect(text(.holder) == "SELECT \"id\" FROM \"app\".\"Movie\" WHERE \"title\" = $1 LIMIT 1")
  }
}
