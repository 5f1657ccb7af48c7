import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import Testing

/// The rows of a request are passed on once, outside of transactions if the statement is prepared.
@Suite struct SinglePassTests {
  private struct Stop: Error {}

  let scratch: Scratch
  let context: SQLiteContext
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    schema = try Fixtures.movies()
    try context.fill(schema, 0..<200)
  }

  /// The rows that are passed on; nil if they must be fetched.
  private func passed(_ request: FetchRequest) throws -> [[PersistentValue]]? {
    var rows: [[PersistentValue]] = []
    let count = try context.readOnce(request) { rows.append(try $0.values()) }
    #expect(count ?? 0 == rows.count)
    return count == nil ? nil : rows
  }

  private func page(_ order: FieldOrder = FieldOrder("title"), limit: Int = 51) throws -> FetchRequest {
    try FetchRequest(
      schema, where: .comparison(field: "budget", .greaterOrEqual, .integer(5)), order: [order], limit: limit)
  }

  @Test("R5 tables of other programs are not passed on, since any row of them may take long")
  func foreign() throws {
    try scratch.makeForeign(
      "foreign.sqlite",
      ["CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO track VALUES (1, 'one')"])
    let context = try scratch.open("foreign.sqlite")
    let track = try #require(try context.schema(named: "track"))
    let request = try FetchRequest(track, limit: 5)
    // Before a statement is prepared, and after a fetch has prepared it.
    for _ in 0..<2 {
      var passed = 0
      let count = try context.readOnce(request) { _ in passed += 1 }
      #expect(count == nil && passed == 0)
      #expect(try context.values(request) == [[.integer(1), .text("one")]])
    }
  }

  @Test("O2 a pass has the rows that a fetch has, up to any limit, in the order of an index or a sort")
  func rows() throws {
    for order in [FieldOrder("title"), FieldOrder("id", isDescending: true), FieldOrder("budget")] {
      // Its statement is not prepared.
      let first = try passed(page(order))
      #expect(first?.count == 51)
      for limit in [1, 2, 32, 33, 51, 194, 195, 196, 1000] {
        let request = try page(order, limit: limit)
        let fetched = try context.values(request)
        #expect(fetched.count == min(limit, 195))
        for _ in 0..<2 {
          let rows = try passed(request)
          #expect(rows == fetched)
        }
      }
    }
    let unknown = try ModelSchema(name: "Unknown", fields: [FieldSchema("id", .int64)], key: ["id"])
    let absent = try passed(FetchRequest(unknown, limit: 5))
    #expect(absent == [])
    let none = try FetchRequest(
      schema, where: .comparison(field: "budget", .greaterOrEqual, .integer(1000)),
      order: [FieldOrder("title")], limit: 51)
    let rows = try passed(none)
    #expect(rows == [])
  }

  @Test("V2 a pass has the values of all kinds")
  func kinds() throws {
    let schema = try Fixtures.everything()
    var random = SeededGenerator(seed: 17)
    let rows = (0..<64).map { id in
      [.integer(id)]
        + schema.fields.dropFirst().map { Fixtures.value($0.kind, optional: true, &random) }
    }
    try context.fill(schema, rows)
    let request = try FetchRequest(schema, limit: 64)
    let fetched = try context.values(request)
    let found = try passed(request)
    #expect(found == fetched)
    #expect(found == rows)
  }

  @Test("requests that one statement cannot answer are fetched")
  func refused() throws {
    let anchor = PageAnchor([.integer(3)])
    let requests = [
      try FetchRequest(schema), try FetchRequest(schema, limit: 0),
      try FetchRequest(schema, limit: 5, offset: 1), try FetchRequest(schema, limit: 5, after: anchor),
      try FetchRequest(schema, limit: 5).plannedAnew,
    ]
    for request in requests {
      _ = try context.values(request)
      let rows = try passed(request)
      #expect(rows == nil)
    }
  }

  @Test("an error of the closure ends the pass, which holds nothing then")
  func stopped() throws {
    let fetched = try context.values(page())
    let opened = context.counters.connectionsOpened
    for end in [1, 2, 50, 51] {
      var count = 0
      #expect(throws: Stop.self) {
        _ = try context.readOnce(page()) { _ in
          count += 1
          if count == end { throw Stop() }
        }
      }
      #expect(count == end)
      try context.execute("UPDATE Movie SET genre = NULL")
      let rows = try passed(page())
      #expect(rows == fetched)
    }
    #expect(context.counters.connectionsOpened == opened)
  }

  @Test("R2 a pass shows one moment, while another connection writes")
  func moment() throws {
    let fetched = try context.values(page())
    let other = try scratch.open()
    var rows: [[PersistentValue]] = []
    let count = try context.readOnce(page()) { row in
      if rows.isEmpty { try other.execute("UPDATE Movie SET title = 'changed', genre = 'new'") }
      rows.append(try row.values())
    }
    #expect(count == 51)
    #expect(rows == fetched)
    let newest = try passed(page())
    #expect(newest?.allSatisfy { $0[1] == .text("changed") } == true)
    try other.close()
  }

  @Test("E4 a pass finds out that another connection has changed the schema")
  func schemaChanges() throws {
    let fetched = try context.values(page())
    let before = try passed(page())
    #expect(before == fetched)
    let other = try scratch.open()
    try other.execute("ALTER TABLE Movie RENAME COLUMN title TO name")
    for _ in 0..<2 { #expect(throws: PersistenceError.self) { try passed(page()) } }
    #expect(throws: PersistenceError.self) { try context.values(page()) }
    try other.execute("ALTER TABLE Movie RENAME COLUMN name TO title")
    try other.execute("ALTER TABLE Movie ADD COLUMN more TEXT")
    for _ in 0..<2 {
      let again = try passed(page())
      #expect(again == fetched)
      let rows = try context.values(page())
      #expect(rows == fetched)
    }
    try other.close()
  }

  @Test("a damaged record is reported with its key, after the records before it")
  func damage() throws {
    let fetched = try context.values(page())
    guard case .integer(let key) = fetched[20][0] else { return }
    try context.execute("UPDATE Movie SET rating = 'none' WHERE id = ?1", [.integer(key)])
    for _ in 0..<2 {
      var rows: [[PersistentValue]] = []
      let error = #expect(throws: PersistenceError.self) {
        _ = try context.readOnce(page()) { rows.append(try $0.values()) }
      }
      #expect(error?.code == .damaged)
      #expect(error?.key == RecordKey([.integer(key)]))
      #expect(rows == Array(fetched.prefix(20)))
    }
  }

  @Test("R5 a pass ends when it is interrupted, and the next one does not")
  func interrupted() throws {
    try context.fill(schema, 200..<5000)
    let request = try page(limit: 6000)
    let fetched = try context.values(request)
    var count = 0
    let interruption = ReadInterruption(atCheck: 4, PersistenceError(.timedOut, "late"))
    let error = #expect(throws: PersistenceError.self) {
      try interruption.run { _ = try context.readOnce(request) { _ in count += 1 } }
    }
    #expect(error?.code == .timedOut)
    #expect(count < 4995)
    let rows = try passed(request)
    #expect(rows == fetched)
  }

  @Test("R3 a closed context passes nothing on")
  func closed() throws {
    _ = try context.values(page())
    try context.close()
    let error = #expect(throws: PersistenceError.self) { try passed(page()) }
    #expect(error?.code == .closed)
  }
}
