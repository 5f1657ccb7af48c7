import Logging
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import Testing

/// A fetch with a small limit reads its rows once, by one statement, and its results pin no state.
@Suite struct ShortFetchTests {
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

  /// The rows that are passed on.
  private func passed(_ request: FetchRequest) throws -> [[PersistentValue]]? {
    var rows: [[PersistentValue]] = []
    let count = try context.readOnce(request) { rows.append(try $0.values()) }
    return count == rows.count ? rows : nil
  }

  @Test("parts of a result with a limit are read in any order, as often as wanted")
  func parts() throws {
    let request = try FetchRequest(
      schema, where: .comparison(field: "budget", .greaterOrEqual, .integer(0)),
      order: [FieldOrder("budget")], limit: 10)
    let rows = (0..<100).map { Self.row($0) }
    let expected = Array(rows.sorted { $0[3] < $1[3] }.prefix(10))
    #expect(try context.values(request) == expected)
    let results = try context.fetch(request)
    let parts: [(offset: Int, limit: Int)] = [
      (0, 10), (3, 4), (9, 5), (10, 1), (0, .max), (.max, .max), (5, 0), (-1, 2), (2, 1),
    ]
    for (offset, limit) in parts {
      var found: [[PersistentValue]] = []
      let count = try results.read(from: offset, limit: limit) { found.append(try $0.values()) }
      let wanted = offset < 0 ? [] : Array(expected.dropFirst(offset).prefix(limit))
      #expect(found == wanted)
      #expect(count == wanted.count)
    }
  }

  @Test("R2 the results of short fetches keep their moment, and no connection", arguments: [1, 10, 32, 128])
  func moment(limit: Int) throws {
    let context = try scratch.open("keyed.sqlite")
    let repository = Repository(context)
    try repository.insert(contentsOf: (0..<200).map { Keyed(Int64($0), "label \($0)") })
    let query = repository.filter(Keyed<Int64>.self).sorted(by: \.id, inOrder: .descending).limit(limit)
    _ = try query.result()
    let opened = context.counters.connectionsOpened
    var alive: [PersistentResults<Keyed<Int64>>] = []
    for _ in 0..<50 { alive.append(try query.result()) }
    #expect(context.counters.connectionsOpened == opened)
    try context.execute("UPDATE \"Keyed by Int64\" SET label = 'changed'")
    let expected = (200 - limit..<200).reversed().map { "label \($0)" }
    for results in alive {
      let labels = results.map(\.label)
      #expect(labels == expected)
    }
    #expect(try query.first()?.label == "changed")
    try context.close()
    #expect(try alive[0].checkedCount() == limit)
    #expect(throws: PersistenceError.self) { try query.result() }
  }

  @Test("a slow short fetch is reported with its plan")
  func monitoring() throws {
    let log = LogRecorder()
    let context = try scratch.open("slow.sqlite") {
      $0.monitoring = Monitoring(logger: log.logger(), slowRequest: .zero)
    }
    let repository = Repository(context)
    try repository.insert(contentsOf: (0..<20).map { Keyed(Int64($0), "label \($0)") })
    for count in 1...3 {
      _ = try repository.filter(Keyed<Int64>.self, where: \.label >= "label 1").limit(5).result()
      let lines = log.lines(.warning).filter { $0.contains("slow request") && $0.contains("label >= ?") }
      #expect(lines.count == count && lines.allSatisfy { $0.contains("plan") && !$0.contains("unknown") })
    }
  }

  @Test("a record's initializer may read the store, while its row is passed on")
  func readingInitializer() throws {
    let context = try scratch.open("keyed.sqlite")
    let repository = Repository(context)
    try repository.insert(contentsOf: (0..<50).map { Keyed(Int64($0), "label \($0)") })
    try CountingNote.$repository.withValue(repository) {
      for _ in 0..<3 {
        let notes = Array(try repository.filter(CountingNote.self).limit(20).result())
        #expect(notes.map(\.id) == (0..<20).map { $0 })
        #expect(notes.allSatisfy { $0.others == 7 })
      }
    }
  }

  @Test("texts of any size are passed on whole")
  func sizes() throws {
    for size in [0, 1, 191, 192, 193, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1 << 20] {
      let row = Self.row(0, title: String(repeating: "t", count: size))
      try context.fill(schema, [row])
      for _ in 0..<3 {
        let found = try passed(FetchRequest(schema, limit: 1))
        #expect(found == [row])
      }
    }
  }

  @Test("a statement that SQLite prepares again for a bound value keeps its declarations")
  func partialIndex() throws {
    try context.execute("CREATE INDEX live ON Movie(title) WHERE budget = 37")
    func request(_ budget: Int64) throws -> FetchRequest {
      try FetchRequest(schema, where: .comparison(field: "budget", .equal, .integer(budget)), limit: 5)
    }
    _ = try passed(request(0))
    let opened = context.counters.connectionsOpened
    for _ in 0..<3 {
      let indexed = try passed(request(37))
      #expect(indexed == [Self.row(1)])
      let other = try passed(request(74))
      #expect(other == [Self.row(2)])
    }
    #expect(context.counters.connectionsOpened == opened)
  }
}

/// A record that reads others of its store while it is decoded.
private struct CountingNote: PersistentRecord {
  @TaskLocal static var repository: Repository?

  var id: Int64
  var label: String
  var others = 0

  static let schema = RecordSchema<CountingNote>(
    "Keyed by Int64", fields: [.field("id", \.id), .field("label", \.label)], key: [\.id],
    indexes: [RecordIndex(\.label)])

  var primaryKey: Int64 { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    others = try Self.repository?.filter(Keyed<Int64>.self).limit(7).result().count ?? 0
    label = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(label, at: 1)
  }
}
