#if Postgres
  import PersistenceDriver
  import Testing

  @testable import PersistencePostgres

  /// Requests with conditions that a connection prepares, and the server plans for their values.
  @Suite(.withServer) struct PreparedConditionTests {
    private let context: PostgresContext
    private let scratch: Scratch
    private let schema: ModelSchema

    init() throws {
      schema = try Scratch.schema.get()
      scratch = try Scratch { $0.poolSize = 1 }
      context = try scratch.open()
      try context.save((1...400).map { Scratch.row($0, "text \($0)") })
      // A page tells the size of rows. Without it, requests use cursors.
      _ = try context.fetch(FetchRequest(schema, limit: 10))
    }

    private func request(_ number: Int) throws -> FetchRequest {
      try FetchRequest(schema, where: .comparison(field: "text", .equal, .text("text \(number)")))
    }

    /// Runs a statement on the context's only connection.
    private func run(_ statement: String) throws -> PostgresResult {
      let connection = try context.pool.take()
      defer { context.pool.giveBack(connection) }
      return try #require(try connection.run([PostgresCommand(statement)], "run a test's statement").first)
    }

    @Test("R1 a condition is prepared once for a connection, and planned for its values each time")
    func plans() throws {
      for number in 1...20 {
        #expect(try context.texts(request(number)) == ["text \(number)"])
        #expect(try context.count(request(number)) == 1)
      }
      let plans = try run(
        "SELECT generic_plans, custom_plans FROM pg_catalog.pg_prepared_statements "
          + "WHERE statement LIKE 'SELECT %\"Note\"%'")
      try #require(plans.count == 2)
      for row in 0..<2 { #expect(plans.integer(row, 0) == 0 && plans.integer(row, 1) == 20) }
      #expect(try run("SHOW plan_cache_mode").text(0, 0) == "auto")
      try context.close()
    }

    @Test("E2 a statement that fails leaves the connection's settings as they were")
    func failures() throws {
      #expect(try context.count(request(1)) == 1)
      try scratch.run("ALTER TABLE \(scratch.schemaName).\"Note\" RENAME COLUMN \"text\" TO other")
      let error = failure { _ = try context.count(request(1)) }
      #expect(error?.code == .damaged)
      #expect(try run("SHOW plan_cache_mode").text(0, 0) == "auto")
      try scratch.run("ALTER TABLE \(scratch.schemaName).\"Note\" RENAME COLUMN other TO \"text\"")
      #expect(try context.texts(request(2)) == ["text 2"])
      try context.close()
    }

    @Test("V6 values and lists of values of one condition are read by their own types")
    func types() throws {
      func count(_ predicate: PredicateNode) throws -> Int {
        try context.count(FetchRequest(schema, where: predicate))
      }
      for _ in 0..<2 {
        #expect(try count(.isIn(field: "id", [.integer(1), .integer(2), .integer(401)])) == 2)
        #expect(try count(.isIn(field: "id", [.integer(3)])) == 1)
        #expect(try count(.isIn(field: "tag", [.null])) == 400)
        #expect(try count(.isIn(field: "tag", [.null, .text("none")])) == 400)
        #expect(try count(.isIn(field: "tag", [.text("none")])) == 0)
        #expect(try count(.comparison(field: "blob", .equal, .bytes([1]))) == 0)
      }
      try context.close()
    }
  }
#endif
