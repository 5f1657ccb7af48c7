import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import Testing

/// A few rows are copied when they are fetched, by a statement that is prepared, and pin no state.
@Suite struct ShortResultsTests {
  let scratch: Scratch
  let context: SQLiteContext
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    schema = try Fixtures.movies()
    try context.fill(schema, (0..<100).map { Self.row($0) })
  }

  private static func row(_ number: Int, title: String? = nil) -> [PersistentValue] {
    let genre: PersistentValue = number % 3 == 0 ? .null : .text("")
    return [
      .integer(Int64(number)), .text(title ?? "a title of movie \(number)"), genre,
      .integer(Int64(number * 37 % 101)), .double(Double(number % 13)),
    ]
  }

  /// The rows with the least budgets from one on, whose order the store sorts.
  private func page(_ budget: Int64 = 0, limit: Int = 10) throws -> FetchRequest {
    try FetchRequest(
      schema, where: .comparison(field: "budget", .greaterOrEqual, .integer(budget)),
      order: [FieldOrder("budget")], limit: limit)
  }

  private func expected(_ budget: Int64 = 0, limit: Int = 10) -> [[PersistentValue]] {
    let rows = (0..<100).map { Self.row($0) }.filter { $0[3] >= .integer(budget) }
    return Array(rows.sorted { $0[3] < $1[3] }.prefix(limit))
  }

  @Test("O2 the second fetch of a shape yields the rows that the first one yields, up to any limit")
  func rows() throws {
    for limit in [1, 2, 10, 31, 32, 33, 99, 100, 101] {
      for budget in [Int64(0), 50, 95, 101] {
        for _ in 0..<2 {
          #expect(try context.values(page(budget, limit: limit)) == expected(budget, limit: limit))
          let results = try context.fetch(page(budget, limit: limit))
          #expect(try results.count() == expected(budget, limit: limit).count)
        }
      }
    }
  }

  @Test("parts of a short result are read in any order, as often as wanted")
  func parts() throws {
    _ = try context.values(page())
    let results = try context.fetch(page())
    let parts: [(offset: Int, limit: Int)] = [
      (0, 10), (3, 4), (9, 5), (10, 1), (0, .max), (.max, .max), (5, 0), (-1, 2), (2, 1),
    ]
    for (offset, limit) in parts {
      var found: [[PersistentValue]] = []
      let count = try results.read(from: offset, limit: limit) { found.append(try $0.values()) }
      let wanted = offset < 0 ? [] : Array(expected().dropFirst(offset).prefix(limit))
      #expect(found == wanted)
      #expect(count == wanted.count)
    }
  }

  @Test("R2 short results keep their moment, and no connection")
  func moment() throws {
    _ = try context.values(page())
    let opened = context.counters.connectionsOpened
    var alive: [any StorageResults] = []
    for _ in 0..<50 { alive.append(try context.fetch(page())) }
    #expect(context.counters.connectionsOpened == opened)
    try context.execute("UPDATE Movie SET title = 'changed'")
    for results in alive {
      var found: [[PersistentValue]] = []
      _ = try results.read(from: 0, limit: 10) { found.append(try $0.values()) }
      #expect(found == expected())
    }
    #expect(try context.values(page(limit: 1)).first?[1] == .text("changed"))
    try context.close()
    #expect(try alive[0].count() == 10)
    #expect(throws: PersistenceError.self) { try context.fetch(page()) }
  }

  @Test("rows that are too large to be copied are read from a transaction")
  func large() throws {
    let title = String(repeating: "t", count: 50_000)
    try context.fill(schema, [Self.row(3, title: title), Self.row(4, title: title + "2")])
    let request = try FetchRequest(schema, limit: 5)
    for _ in 0..<3 {
      let rows = try context.values(request)
      let keys = rows.map { $0[0] }
      #expect(keys == [.integer(0), .integer(1), .integer(2), .integer(3), .integer(4)])
      #expect(rows[3][1] == .text(title))
      #expect(rows[4][1] == .text(title + "2"))
    }
  }

  @Test("rows that are too large for one limit are copied for a smaller one")
  func largeLimit() throws {
    let title = String(repeating: "t", count: 3000)
    try context.fill(schema, (0..<32).map { Self.row($0, title: title) })
    for _ in 0..<3 { #expect(try context.values(FetchRequest(schema, limit: 32)).count == 32) }
    let opened = context.counters.connectionsOpened
    var alive: [any StorageResults] = []
    for _ in 0..<50 { alive.append(try context.fetch(FetchRequest(schema, limit: 5))) }
    #expect(context.counters.connectionsOpened == opened)
    withExtendedLifetime(alive) {}
  }

  @Test("a statement that SQLite prepares again for a bound value keeps its declarations")
  func partialIndex() throws {
    try context.execute("CREATE INDEX live ON Movie(title) WHERE budget = 37")
    let request = try FetchRequest(
      schema, where: .comparison(field: "budget", .equal, .integer(37)), limit: 5)
    for _ in 0..<3 { #expect(try context.values(request) == [Self.row(1)]) }
    let opened = context.counters.connectionsOpened
    var alive: [any StorageResults] = []
    for _ in 0..<50 { alive.append(try context.fetch(request)) }
    #expect(context.counters.connectionsOpened == opened)
    withExtendedLifetime(alive) {}
  }

  @Test("texts of any size are copied whole")
  func sizes() throws {
    // The room for a row, the room for further bytes, and the most that is copied, each with one byte less and more.
    for size in [0, 1, 191, 192, 193, 4095, 4096, 4097, 65_535, 65_536, 65_537] {
      let row = Self.row(0, title: String(repeating: "t", count: size))
      try context.fill(schema, [row])
      for _ in 0..<3 { #expect(try context.values(FetchRequest(schema, limit: 1)) == [row]) }
    }
  }

  @Test("V2 copies have the values of all kinds")
  func kinds() throws {
    let schema = try Fixtures.everything()
    var random = SeededGenerator(seed: 11)
    let rows = (0..<64).map { id in
      [.integer(id)]
        + schema.fields.dropFirst().map { Fixtures.value($0.kind, optional: true, &random) }
    }
    try context.fill(schema, rows)
    for limit in 1...32 {
      for _ in 0..<3 {
        #expect(try context.values(FetchRequest(schema, limit: limit)) == Array(rows.prefix(limit)))
      }
    }
  }

  @Test("E4 a fetch finds out that another connection has changed the schema")
  func schemaChanges() throws {
    for _ in 0..<2 { #expect(try context.values(page()) == expected()) }
    let other = try scratch.open()
    try other.execute("ALTER TABLE Movie RENAME COLUMN title TO name")
    #expect(throws: PersistenceError.self) { try context.values(page()) }
    #expect(throws: PersistenceError.self) { try context.values(page()) }
    try other.execute("ALTER TABLE Movie RENAME COLUMN name TO title")
    for _ in 0..<3 { #expect(try context.values(page()) == expected()) }
    try other.execute("ALTER TABLE Movie ADD COLUMN more TEXT")
    for _ in 0..<3 { #expect(try context.values(page()) == expected()) }
    try other.close()
  }

  @Test("a damaged record is reported with its key, also by the second fetch")
  func damage() throws {
    _ = try context.values(page(limit: 32))
    let found = expected(limit: 32)[20]
    guard case .integer(let key) = found[0] else { return }
    try context.execute("UPDATE Movie SET rating = 'none' WHERE id = ?1", [.integer(key)])
    for _ in 0..<2 {
      let error = #expect(throws: PersistenceError.self) { try context.values(page(limit: 32)) }
      #expect(error?.code == .damaged)
      #expect(error?.key == RecordKey([.integer(key)]))
    }
  }
}
