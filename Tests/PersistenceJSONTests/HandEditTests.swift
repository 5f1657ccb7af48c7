import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// A person edits, adds, copies, removes and damages files beside an open store.
struct HandEditTests {
  private let place: TemporaryStore
  private let context: JSONDirectoryContext

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try context.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"), Films.row(3, "Three"))
  }

  private func file(_ id: Int) -> String { "\(Films.folder)/\(id).json" }

  @Test("an edit by hand is seen by the next fetch, in place or as a new file", arguments: [true, false])
  func edits(inPlace: Bool) throws {
    try place.edit(file(1), "One", "Uno", inPlace: inPlace)
    #expect(try context.titles() == ["Uno", "Two", "Three"])
    #expect(try context.row(Films.key(1)) == Films.row(1, "Uno", "a"))
    try place.remove(file(2))
    #expect(try context.titles() == ["Uno", "Three"])
    #expect(try context.row(Films.key(2)) == nil)
    try place.write("{\"title\": \"Four\", \"id\": 4}", to: file(4))
    #expect(try context.titles() == ["Uno", "Three", "Four"])
    #expect(try context.count(FetchRequest(Films.schema)) == 3)
    try context.save(Films.row(4, "Vier", "d"))
    #expect(try place.text(file(4)) == "{\n  \"code\": \"d\",\n  \"id\": 4,\n  \"title\": \"Vier\"\n}\n")
  }

  @Test("a folder replaced by hand is read")
  func replacedFolder() throws {
    #expect(try context.titles().count == 3)
    try FileManager.default.moveItem(
      atPath: "\(place.path)/\(Films.folder)", toPath: "\(place.path)/old")
    #expect(try context.titles() == [])
    try place.makeFolder(Films.folder)
    try place.write("{\"title\": \"Nine\", \"id\": 9}", to: file(9))
    #expect(try context.titles() == ["Nine"])
    try context.save(Films.row(10, "Ten"))
    #expect(try place.names(Films.folder) == ["10.json", "9.json"])
    #expect(try place.names("old") == ["1.json", "2.json", "3.json"])
  }

  @Test("E5 R4 a damaged file is named with line and column, and touches nothing else")
  func damage() throws {
    try place.write("{\n  \"id\": 2,\n  \"title\": oops\n}\n", to: file(2))
    let damaged = try place.text(file(2))
    for attempt in [
      { _ = try context.titles() }, { _ = try context.row(Films.key(2)) },
      { _ = try context.fetch(FetchRequest(Films.schema, order: [FieldOrder("title")])) },
      {
        _ = try context.count(
          FetchRequest(Films.schema, where: .comparison(field: "title", .equal, .text("x"))))
      },
    ] as [() throws -> Void] {
      let error = try #require(throws: PersistenceError.self) { try attempt() }
      #expect(error.code == .damaged)
      #expect(error.message.contains(file(2)), "\(error)")
      #expect(error.message.contains("line 3, column 12"), "\(error)")
      #expect(error.model == "Film" && error.key == Films.key(2))
    }
    #expect(try context.row(Films.key(1)) == Films.row(1, "One", "a"))
    let results = try context.fetch(FetchRequest(Films.schema))
    #expect(try results.read(from: 0, limit: 1) { _ in } == 1)
    #expect(throws: PersistenceError.self) { try results.read(from: 1, limit: 1) { _ in } }
    #expect(try results.read(from: 2, limit: 1) { _ in } == 1)
    #expect(try place.text(file(2)) == damaged)
    try context.transaction { transaction in
      let isFound = try transaction.delete(Films.key(2), in: Films.schema)
      #expect(isFound)
    }
    #expect(try context.titles() == ["One", "Three"])
  }

  @Test("E5 W4 a damaged file prevents no write of another record; unique values of the others still count")
  func damageBesideUniqueValues() throws {
    try place.write("{\n  \"id\": 2", to: file(2))
    try context.save(Films.row(5, "Five", "e"))
    let error = try #require(throws: PersistenceError.self) { try context.save(Films.row(6, "Six", "e")) }
    #expect(error.code == .uniqueViolation && error.message.contains(file(5)), "\(error)")
    try context.save(Films.row(6, "Six"))
    #expect(try context.row(Films.key(6)) == Films.row(6, "Six"))
    #expect(try #require(throws: PersistenceError.self) { try context.titles() }.code == .damaged)
    // Once the file is repaired, its value counts again.
    try place.write("{\"id\": 2, \"title\": \"Two\", \"code\": \"b\"}", to: file(2))
    #expect(throws: PersistenceError.self) { try context.save(Films.row(7, "Seven", "b")) }
    #expect(try context.titles() == ["One", "Two", "Three", "Five", "Six"])
  }

  @Test("W4 reading a file whose name does not match its key is an error that names the file")
  func wrongName() throws {
    try FileManager.default.copyItem(atPath: "\(place.path)/\(file(1))", toPath: "\(place.path)/\(file(8))")
    for attempt in [{ _ = try context.titles() }, { _ = try context.row(Films.key(8)) }]
      as [() throws -> Void]
    {
      let error = try #require(throws: PersistenceError.self) { try attempt() }
      #expect(error.code == .damaged)
      #expect(error.message.contains("8.json") && error.message.contains("1.json"), "\(error)")
    }
    try place.remove(file(8))
    for name in ["Film.json", "01.json", "+1.json", "1+2.json", "%31.json", "1 copy.json"] {
      try place.write("{\"id\": 1, \"title\": \"x\"}", to: "\(Films.folder)/\(name)")
      let error = try #require(throws: PersistenceError.self) { try context.titles() }
      #expect(error.code == .damaged && error.message.contains(name), "\(error)")
      try place.remove("\(Films.folder)/\(name)")
    }
    #expect(try context.titles() == ["One", "Two", "Three"])
  }

  @Test("W4 values written in other spellings count as values: in keys, conditions and unique indexes")
  func spellings() throws {
    let schema = try ModelSchema(
      name: "Event",
      fields: [FieldSchema("id", .int64), FieldSchema("day", .date), FieldSchema("seats", .int32)],
      key: ["id"],
      indexes: [IndexSchema(["day"], isUnique: true), IndexSchema(["seats"])])
    let row: [PersistentValue] = [.integer(2), .date(300_931_200), .integer(7)]
    try context.save([.integer(1), .date(0), .integer(5)], in: schema)
    try place.write("{\"id\": 2.0, \"day\": \"2010-07-16\", \"seats\": \"7\"}", to: "Event/2.json")
    // The first round reads the file, the second the index.
    for _ in 0..<2 {
      #expect(try context.row(RecordKey([.integer(2)]), in: schema) == row)
      for (field, value) in [("day", row[1]), ("seats", row[2])] {
        let request = try FetchRequest(schema, where: .comparison(field: field, .equal, value))
        #expect(try context.rows(request) == [row])
      }
      let error = try #require(throws: PersistenceError.self) {
        try context.save([.integer(3), row[1], .integer(1)], in: schema)
      }
      #expect(error.code == .uniqueViolation && error.message.contains("2.json"), "\(error)")
      Books.settle()
    }
    try context.save(row, in: schema)
    #expect(
      try place.text("Event/2.json")
        == "{\n  \"day\": \"2010-07-16T00:00:00Z\",\n  \"id\": 2,\n  \"seats\": 7\n}\n")
    try place.write("{\"id\": \"2\", \"day\": \"2011-07-16\", \"seats\": 1}", to: "Event/4.json")
    let error = try #require(throws: PersistenceError.self) { try context.rows(of: schema) }
    #expect(error.code == .damaged && error.message.contains("2.json"), "\(error)")
  }

  @Test("files of other programs in a model's folder are ignored")
  func otherFiles() throws {
    for name in [".DS_Store", ".1.json.swp", "1.json~", "README.md", "#1.json#"] {
      try place.write("not JSON", to: "\(Films.folder)/\(name)")
    }
    #expect(try context.titles() == ["One", "Two", "Three"])
    #expect(try context.count(FetchRequest(Films.schema)) == 3)
    try context.transaction { transaction in
      let count = try transaction.deleteAll(in: Films.schema)
      #expect(count == 3)
    }
    #expect(try place.names(Films.folder).count == 5)
  }

  @Test("W4 a unique value duplicated by hand is rejected for the next record, and can be corrected")
  func doubledUniqueValue() throws {
    try place.edit(file(3), "null", "\"a\"")
    let error = try #require(throws: PersistenceError.self) { try context.save(Films.row(4, "Four", "a")) }
    #expect(error.code == .uniqueViolation && error.field == "code")
    #expect(error.message.contains(file(1)), "\(error)")
    try context.save(Films.row(3, "Three", "c"))
    try context.save(Films.row(1, "One", "a"))
    #expect(
      try context.rows() == [Films.row(1, "One", "a"), Films.row(2, "Two", "b"), Films.row(3, "Three", "c")])
  }

  @Test("W4 after an edit by hand the old unique value is free, and the new one is taken")
  func editedUniqueValue() throws {
    try context.save(Films.row(4, "Four", "d"))
    try place.edit(file(4), "\"d\"", "\"e\"", inPlace: true)
    #expect(throws: PersistenceError.self) { try context.save(Films.row(5, "Five", "e")) }
    try context.save(Films.row(5, "Five", "d"))
    #expect(try context.row(Films.key(5)) == Films.row(5, "Five", "d"))
  }

  @Test(
    "R2 an edit during a live result is an error, and never part of the result", arguments: [true, false])
  func editDuringResult(inPlace: Bool) throws {
    let results = try context.fetch(FetchRequest(Films.schema))
    #expect(try results.read(from: 0, limit: 1) { _ in } == 1)
    // Later than the kernel's clock tick, as a person is.
    usleep(20_000)
    try place.edit(file(2), "Two", "Zwei", inPlace: inPlace)
    let error = try #require(throws: PersistenceError.self) { try results.read(from: 1, limit: 1) { _ in } }
    #expect(error.code == .changedOutside && error.message.contains(file(2)), "\(error)")
    #expect(try results.read(from: 2, limit: 1) { _ in } == 1)
    #expect(try context.titles() == ["One", "Zwei", "Three"])
  }

  @Test("R2 a removal during a live result is an error, and an addition is invisible")
  func removalDuringResult() throws {
    let results = try context.fetch(FetchRequest(Films.schema))
    try place.remove(file(2))
    try place.write("{\"title\": \"Four\", \"id\": 4}", to: file(4))
    let error = try #require(throws: PersistenceError.self) { try results.rows() }
    #expect(error.code == .changedOutside && error.message.contains(file(2)), "\(error)")
    #expect(try results.count() == 3)
  }

  @Test(
    "R2 reading a record again after an edit is an error",
    arguments: [true, false])
  func editBetweenReads(inPlace: Bool) throws {
    let results = try context.fetch(FetchRequest(Films.schema))
    #expect(try results.titles() == ["One", "Two", "Three"])
    try place.edit(file(2), "Two", "Too", inPlace: inPlace)
    // Even in the same tick of the clock, a second reading is the first or an error.
    let again = Result { try results.titles() }
    if case .success(let titles) = again { #expect(titles == ["One", "Two", "Three"]) }
  }

  @Test("files with a modification time in the future can be read")
  func futureTimes() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 86_400)], ofItemAtPath: "\(place.path)/\(file(2))")
    #expect(try context.titles() == ["One", "Two", "Three"])
    try place.edit(file(2), "Two", "Zwei")
    #expect(try context.titles() == ["One", "Zwei", "Three"])
  }

  @Test("E5 an entry that is not a regular file is an error with its name")
  func noFile() throws {
    try place.makeFolder(file(7))
    let error = try #require(throws: PersistenceError.self) { try context.titles() }
    #expect(error.message.contains("7.json"), "\(error)")
    try place.remove(file(7))
    #expect(mkfifo("\(place.path)/\(file(7))", 0o600) == 0)
    let other = try #require(throws: PersistenceError.self) { try context.titles() }
    #expect(other.message.contains("7.json"), "\(other)")
  }

  @Test("E5 an error about a damaged catalog names it")
  func damagedCatalog() throws {
    try place.write("{", to: ".persistence/catalog.json")
    let error = try #require(throws: PersistenceError.self) { try context.titles() }
    #expect(error.code == .damaged && error.message.contains("catalog.json"))
    try place.write(
      "{\"format\":\"persistence-json\",\"version\":99,\"models\":[]}", to: ".persistence/catalog.json")
    #expect(try #require(throws: PersistenceError.self) { try context.titles() }.code == .notAStore)
  }
}
