import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Opening a store and reading its catalog.
@Suite struct OpeningTests {
  let scratch: Scratch
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    schema = try Fixtures.movies()
    let context = try scratch.open()
    let row: [PersistentValue] = [.integer(1), .text("one"), .null, .integer(2), .null]
    try context.fill(schema, [row])
    try context.close()
  }

  @Test("reading needs one connection; the first write and a second result open others")
  func connections() throws {
    let context = try scratch.open()
    #expect(try context.values(of: .integer(1), in: schema) != nil)
    #expect(try context.values(FetchRequest(schema)).count == 1)
    #expect(try context.count(FetchRequest(schema)) == 1)
    #expect(context.counters.connectionsOpened == 1)
    try context.execute("UPDATE Movie SET title = 'two'")
    #expect(context.counters.connectionsOpened == 2)
    #expect(try context.values(of: .integer(1), in: schema)?[1] == .text("two"))
    let first = try context.fetch(FetchRequest(schema))
    #expect(context.counters.connectionsOpened == 2)
    // A second result needs a connection, and the sentinel that compares their states.
    let second = try context.fetch(FetchRequest(schema))
    #expect(context.counters.connectionsOpened == 4)
    #expect(try first.count() == 1)
    #expect(try second.count() == 1)
  }

  @Test("a journal is changed also where a log lies beside a file whose header tells of none")
  func journalBesideLog() throws {
    try scratch.open { $0.journal = .delete }.close()
    let log = scratch.path() + "-wal"
    try Data(repeating: 7, count: 100).write(to: URL(fileURLWithPath: log))
    let context = try scratch.open { $0.journal = .delete }
    #expect(context.capabilities.readersBlockWriters)
    #expect(try context.values(of: .integer(1), in: schema) != nil)
    #expect(!FileManager.default.fileExists(atPath: log))
    try context.close()
  }

  @Test("a file with two names that is no database is not called one")
  func linkedGarbage() throws {
    let path = scratch.path("garbage")
    try Data(repeating: 1, count: 2_048).write(to: URL(fileURLWithPath: path))
    try FileManager.default.linkItem(atPath: path, toPath: path + "-2")
    #expect(code { _ = try scratch.open("garbage") { $0.isReadOnly = true } } == .notAStore)
  }

  @Test("opening a store prepares five statements, and reading its first record another one")
  func preparations() throws {
    let context = try scratch.open()
    #expect(context.counters.prepares == 5)
    #expect(try context.schema(named: ReservedModel.fillLedger) == nil)
    #expect(try context.values(of: .integer(1), in: schema) != nil)
    #expect(context.counters.prepares == 6)
  }

  @Test(
    "R2 concurrent results show their own states, including the first, whose version was not read")
  func states() throws {
    let context = try scratch.open { $0.poolSize = 1 }
    let first = try context.fetch(FetchRequest(schema))
    try context.execute("DELETE FROM Movie")
    let second = try context.fetch(FetchRequest(schema))
    let third = try context.fetch(FetchRequest(schema))
    try context.execute("INSERT INTO Movie (id, title, budget) VALUES (1, 'a', 1), (2, 'b', 2)")
    let fourth = try context.fetch(FetchRequest(schema))
    #expect(try [first, second, third, fourth].map { try $0.count() } == [1, 0, 0, 2])
  }

  @Test("V3 E6 stores whose layouts differ in the normal form of one name keep their own, opened again too")
  func spellings() throws {
    for isNew in [true, false] {
      for (number, name) in ["\u{E9}", "e\u{301}"].enumerated() {
        let word = try ModelSchema(
          name: "Word", fields: [FieldSchema("id", .int64), FieldSchema(name, .string)], key: ["id"])
        let context = try scratch.open("spelling\(number).sqlite")
        if isNew { try context.fill(word, [[.integer(1), .text(name)]]) }
        #expect(try context.schema(named: "Word") == word)
        #expect(try context.values(FetchRequest(word)) == [[.integer(1), .text(name)]])
        try context.close()
      }
    }
  }

  @Test("a model that the store did not hold is found as soon as another context has added it")
  func added() throws {
    let (context, other) = (try scratch.open(), try scratch.open())
    let added = try ModelSchema(name: "Added", fields: [FieldSchema("id", .int64)], key: ["id"])
    for _ in 0..<2 {
      #expect(try context.schema(named: "Added") == nil)
      try other.transaction { try $0.define(added) }
      #expect(try context.schema(named: "Added") == added)
      try other.transaction { try $0.drop(added) }
    }
    #expect(try context.schema(named: "Added") == nil)
  }

  @Test("E4 E5 catalog entries that are damaged throw damaged, and those of another format throw unsupported")
  func entries() throws {
    let context = try scratch.open()
    let texts = try context.rows("SELECT layout FROM persistence_catalog").map { $0[0] }
    guard case .text(let text)? = texts.first else { throw PersistenceError(.damaged, "no entry") }
    func code(with layout: String) throws -> PersistenceError.Code? {
      try context.execute("UPDATE persistence_catalog SET layout = ?1", [.text(layout)])
      // Another context, since this one has cached the entry.
      let other = try scratch.open()
      defer { try? other.close() }
      do {
        _ = try other.values(FetchRequest(schema))
        return nil
      } catch let error as PersistenceError {
        return error.code
      }
    }
    #expect(try code(with: text) == nil)
    #expect(try code(with: text.replacing("\"format\":1", with: "\"format\":4")) == .unsupported)
    for damaged in [
      "", "{}", "[1]", String(text.dropLast()), text.replacing("\"title\"", with: "\"id\""),
      text.replacing("\"string\"", with: "\"strange\""),
      text.replacing("\"isUnique\":false", with: "\"isUnique\":0"),
      text.replacing("\"key\":[\"id\"]", with: "\"key\":[]"),
      text.replacing("\"columns\":[\"id\",", with: "\"columns\":["),
    ] {
      #expect(try code(with: damaged) == .damaged, "\(damaged)")
    }
  }
}
