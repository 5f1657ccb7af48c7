import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Testing

/// The SQL text of requests for columns that other programs made.
@Suite struct PostgresForeignTextTests {
  let schema: ModelSchema
  let table: SQLTable
  let dialect = PostgresDialect(schema: "app")

  init() throws {
    schema = try ModelSchema(
      name: "film",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string), FieldSchema("mood", .string),
        FieldSchema("notes", .string), FieldSchema("local", .date), FieldSchema("day", .date),
        FieldSchema("code", .string), FieldSchema("sorted", .string),
      ], key: ["id"])
    table = SQLTable(
      name: "film",
      columns: [
        SQLColumn("id", .int64, isOptional: false, comparison: .asInt8),
        SQLColumn("title", .string, isOptional: false, comparison: .byBytes),
        SQLColumn(
          "mood", .string, isOptional: false, comparison: .asText, conversion: .cast("\"app\".\"mood\"")),
        SQLColumn("notes", .string, isOptional: false, comparison: .asText, conversion: .exactJSON),
        SQLColumn("local", .date, isOptional: false, conversion: .localTime),
        SQLColumn("day", .date, isOptional: false, conversion: .day),
        SQLColumn("code", .string, isOptional: false, isVarying: true),
        SQLColumn("sorted", .string, isOptional: false, comparison: .byBytes, isVarying: true),
      ], key: [0], rowID: nil, isForeign: true, overridesIdentity: true)
  }

  private func text(_ predicate: PredicateNode) throws -> String {
    let query = SQLQuery(
      try LoweredPredicate(predicate, in: schema, dialect),
      order: try SQLOrder(FetchRequest(schema).totalOrder, in: schema), model: 1)
    return SQLQueryTranslator.text(of: query.count(upTo: nil).key, on: table, dialect)
      .replacing("SELECT pg_catalog.count(*) FROM \"app\".\"film\" WHERE ", with: "")
  }

  @Test(
    "V3 equality uses the column's index where it is that of bytes, and orders never depend on a collation",
    arguments: [
      (PredicateNode.comparison(field: "id", .less, .integer(5)), "\"id\" < $1"),
      (.comparison(field: "title", .equal, .text("x")), "\"title\" = $1"),
      (.comparison(field: "title", .less, .text("x")), "\"title\" COLLATE \"C\" < $1"),
      (.isIn(field: "title", [.text("x")]), "\"title\" = ANY($1)"),
      (
        .fieldComparison(left: "title", .equal, right: "mood"),
        "\"title\" COLLATE \"C\" = \"mood\"::text COLLATE \"C\""
      ),
      (.comparison(field: "mood", .equal, .text("x")), "\"mood\"::text COLLATE \"C\" = $1"),
      // Without the cast, the server would prefer an operator of `varchar` and text that somebody has made.
      (.comparison(field: "code", .less, .text("x")), "\"code\"::text < $1"),
      (.isIn(field: "code", [.text("x")]), "\"code\"::text = ANY($1)"),
      (.comparison(field: "sorted", .equal, .text("x")), "\"sorted\"::text = $1"),
      (.comparison(field: "sorted", .less, .text("x")), "\"sorted\"::text COLLATE \"C\" < $1"),
      (.comparison(field: "local", .less, .date(0)), "\"local\" < ($1 AT TIME ZONE 'UTC')"),
      (
        .isBetween(field: "day", lower: .date(0), upper: .date(1)),
        "\"day\" BETWEEN ($1 AT TIME ZONE 'UTC')::date AND ($2 AT TIME ZONE 'UTC')::date"
      ),
    ])
  func comparisons(_ predicate: PredicateNode, _ expected: String) throws {
    #expect(try text(predicate) == expected)
  }

  @Test("V2 parameters become values of the columns' types, and only exactly")
  func writing() {
    let insert = SQLQueryTranslator.text(of: StatementKey(.insert, model: 1), on: table, dialect)
    #expect(
      insert == "INSERT INTO \"app\".\"film\" (\"id\", \"title\", \"mood\", \"notes\", \"local\", \"day\", "
        + "\"code\", \"sorted\") "
        + "OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3::\"app\".\"mood\", "
        + "CASE WHEN $4::text::jsonb::text = $4::text THEN $4::text::jsonb "
        + "ELSE ('otherwise: ' || $4::text)::jsonb END, "
        + "($5 AT TIME ZONE 'UTC'), ($6 AT TIME ZONE 'UTC')::date, $7, $8)")
    let update = SQLQueryTranslator.text(of: StatementKey(.update, model: 1), on: table, dialect)
    #expect(
      update.hasSuffix(
        "\"day\" = ($6 AT TIME ZONE 'UTC')::date, \"code\" = $7, \"sorted\" = $8 WHERE \"id\" = $1"))
  }

  @Test("groups are by the expressions that the results have")
  func groups() throws {
    let query = SQLQuery(
      try LoweredPredicate(nil, in: schema, dialect),
      order: try SQLOrder(FetchRequest(schema).totalOrder, in: schema), model: 1)
    let items = [SQLItem(.field, 1), SQLItem(.field, 2), SQLItem(.minimum, 1), SQLItem(.sum, 0)]
    let statement = query.aggregates(items, limit: nil, offset: 0)
    #expect(
      SQLQueryTranslator.text(of: statement.key, on: table, dialect)
        == "SELECT \"title\" COLLATE \"C\", \"mood\"::text COLLATE \"C\", pg_catalog.min(\"title\" COLLATE \"C\"), "
        + "pg_catalog.sum(\"id\"::int8) FROM \"app\".\"film\" GROUP BY \"title\" COLLATE \"C\", \"mood\"::text COLLATE \"C\" "
        + "ORDER BY \"title\" COLLATE \"C\", \"mood\"::text COLLATE \"C\"")
  }
}
