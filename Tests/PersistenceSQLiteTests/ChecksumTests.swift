import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import TestSupport
import Testing

@testable import PersistenceSQLite

@Suite("E5: checksums of pages")
struct ChecksumTests {
  private let scratch: Scratch
  private let schema: ModelSchema
  private let rows: [[PersistentValue]]

  init() throws {
    scratch = try Scratch()
    schema = try Fixtures.movies()
    rows = (0..<40).map { number in
      [
        .integer(number), .text("title \(number) " + String(repeating: "x", count: number == 7 ? 5_000 : 30)),
        number % 5 == 0 ? .null : .text("genre \(number % 3)"), .integer(number * 1_000),
        .double(Double(number)),
      ]
    }
  }

  private func make(_ name: String, journal: SQLiteConfiguration.Journal = .wal) throws -> URL {
    let context = try scratch.open(name) {
      $0.checksums = true
      $0.journal = journal
    }
    try context.fill(schema, rows)
    try context.close()
    return URL(fileURLWithPath: scratch.path(name))
  }

  private func findings(_ context: SQLiteContext) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try context.verify { findings.append($0) }
    return findings
  }

  @Test(
    "E5 a changed byte anywhere in the file gives the right data or damaged",
    arguments: SQLiteConfiguration.Journal.allCases)
  func changedBytes(journal: SQLiteConfiguration.Journal) throws {
    let file = try make("store.sqlite", journal: journal)
    let whole = try Data(contentsOf: file)
    var (right, damaged) = (0, 0)
    // The header of the file, and places in every page.
    for place in Array(0..<100) + Array(stride(from: 100, to: whole.count, by: 61)) {
      var data = whole
      data[place] ^= place % 3 == 0 ? 0xFF : 1 << (place % 8)
      try data.write(to: file)
      do {
        let context = try scratch.open()
        defer { try? context.close() }
        let values = try context.values(FetchRequest(schema))
        let byTitle = try context.values(FetchRequest(schema, order: [FieldOrder("title")]))
        #expect(values == rows && byTitle.count == rows.count, "byte \(place)")
        right += 1
      } catch let error as PersistenceError {
        #expect(error.code == .damaged || error.code == .notAStore, "byte \(place): \(error)")
        damaged += 1
      }
    }
    #expect(damaged >= 250, "\(damaged) damaged, \(right) right")
  }

  @Test("E5 swapped, zeroed and repeated pages are damaged", arguments: [true, false])
  func pages(isRead: Bool) throws {
    let file = try make("store.sqlite")
    let whole = try Data(contentsOf: file)
    let size = 4_096
    try #require(whole.count >= 5 * size)
    for page in 1..<whole.count / size {
      for other in [nil, page + 1 < whole.count / size ? page + 1 : 1] {
        var data = whole
        let range = page * size..<(page + 1) * size
        data.replaceSubrange(
          range, with: other.map { whole[$0 * size..<($0 + 1) * size] } ?? Data(count: size))
        try data.write(to: file)
        do {
          let context = try scratch.open()
          defer { try? context.close() }
          let values = isRead ? try context.values(FetchRequest(schema)) : rows
          #expect(values == rows, "page \(page)")
          let findings = try findings(context)
          #expect(!findings.isEmpty, "page \(page)")
        } catch let error as PersistenceError {
          #expect(error.code == .damaged, "page \(page): \(error)")
        }
      }
    }
  }

  @Test("E5 a file that ends within its last page is damaged", arguments: [1, 8, 100, 4_000])
  func cutPage(count: Int) throws {
    let file = try make("store.sqlite")
    try Data(contentsOf: file).dropLast(count).write(to: file)
    do {
      let context = try scratch.open()
      defer { try? context.close() }
      let findings = try findings(context)
      #expect(!findings.isEmpty)
    } catch let error as PersistenceError {
      #expect(error.code == .damaged, "\(error)")
    }
  }

  @Test("A store remembers its checksums: an opening without the option verifies and maintains them")
  func remembered() throws {
    let file = try make("store.sqlite")
    let more = (40..<60).map {
      [.integer($0), .text("more \($0)"), .null, .integer(1), .null] as [PersistentValue]
    }
    let context = try scratch.open()
    try context.fill(schema, more)
    #expect(try context.values(FetchRequest(schema)) == rows + more)
    try context.close()
    #expect(try findings(scratch.open { $0.isReadOnly = true }) == [])
    let whole = try Data(contentsOf: file)
    var data = whole
    // The record, and its entry in the index.
    while let place = data.range(of: Data("more 47".utf8)) { data[place.lowerBound] = UInt8(ascii: "b") }
    #expect(data != whole)
    try data.write(to: file)
    let error = try #require(throws: PersistenceError.self) {
      let context = try scratch.open()
      defer { try? context.close() }
      _ = try context.values(FetchRequest(schema))
    }
    #expect(error.code == .damaged && error.message.contains("checksum"), "\(error)")
    try whole.write(to: file)
    #expect(try scratch.open().values(FetchRequest(schema)) == rows + more)
  }

  @Test("Large transactions, VACUUM and both journals maintain the checksums", arguments: [true, false])
  func maintained(isLog: Bool) throws {
    let context = try scratch.open {
      $0.checksums = true
      $0.journal = isLog ? .wal : .delete
    }
    // More than SQLite's cache, so that it writes pages before the commit.
    let text = String(repeating: "x", count: 1_500)
    try context.fill(
      schema, (0..<3_000).map { [.integer($0), .text("\($0) \(text)"), .null, .integer($0), .null] })
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try context.transaction { transaction in
        _ = try transaction.deleteAll(in: schema)
        throw Stop()
      }
    }
    #expect(try findings(context) == [])
    try context.execute("DELETE FROM Movie WHERE id % 3 = 1")
    try context.execute("VACUUM")
    #expect(try findings(context) == [])
    try context.close()
    let again = try scratch.open()
    #expect(try again.count(FetchRequest(schema)) == 2_000)
    #expect(try findings(again) == [])
    // A large copy would be written before its pages have room for checksums.
    #expect(code { try again.execute("VACUUM INTO '\(scratch.path("copy.sqlite"))'") } == .inputOutput)
    #expect(try findings(again) == [])
  }

  @Test("An existing store gets and loses no checksums: the error says what to do, and nothing changes")
  func existing() throws {
    let plain = try scratch.open("plain.sqlite")
    try plain.fill(schema, rows)
    try plain.close()
    _ = try make("checked.sqlite")
    for (name, wanted) in [("plain.sqlite", true), ("checked.sqlite", false)] {
      let before = try Data(contentsOf: URL(fileURLWithPath: scratch.path(name)))
      let error = try #require(throws: PersistenceError.self) {
        try scratch.open(name) { $0.checksums = wanted }
      }
      #expect(error.code == .unsupported && error.message.contains("copy it"), "\(error)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path(name))) == before)
      let context = try scratch.open(name) { $0.checksums = !wanted }
      #expect(try context.values(FetchRequest(schema)) == rows)
    }
  }

  @Test("E5 C2 an opening that found the file empty keeps the checksums that another one gives it meanwhile")
  func concurrentCreation() throws {
    let deadline = ContinuousClock.now + .seconds(5)
    func connect(checksums: Bool?) throws -> SQLiteConnection {
      var configuration = SQLiteConfiguration(synchronous: .off)
      configuration.checksums = checksums
      let store = SQLiteStore(path: scratch.path("new.sqlite"), configuration: configuration)
      return try SQLiteConnection(store, creating: true)
    }
    do {
      let (late, refused) = (try connect(checksums: nil), try connect(checksums: false))
      for connection in [late, refused] {
        #expect(try connection.rows("SELECT 1 FROM sqlite_schema").isEmpty)
        #expect(try !SQLiteChecksums.areKept(by: connection))
      }
      let first = try connect(checksums: true)
      try SQLiteChecksums.begin(first, until: deadline)
      #expect(code { try SQLiteOpening.makeCatalog(refused, until: deadline) } == .unsupported)
      try SQLiteOpening.makeCatalog(late, until: deadline)
      #expect(late.store.hasChecksums)
      #expect(try SQLiteChecksums.areKept(by: first))
    }
    let context = try scratch.open("new.sqlite") { $0.checksums = true }
    try context.fill(schema, rows)
    #expect(try findings(context) == [])
  }

  @Test("The option of a URL makes a store with checksums, and the log names them")
  func url() throws {
    let path = scratch.path("by-url.sqlite")
    let context = try #require(
      try StorageEngine.open(
        "sqlite:\(path)?checksums=true", engines: [.sqlite], monitoring: Monitoring()) as? SQLiteContext)
    #expect(try context.rows("PRAGMA application_id") != [[.integer(0x5052_5354)]])
    try context.fill(schema, rows)
    try context.close()
    #expect(code { _ = try scratch.open("by-url.sqlite") { $0.checksums = false } } == .unsupported)
    #expect(try scratch.open("by-url.sqlite").values(FetchRequest(schema)) == rows)
  }
}
