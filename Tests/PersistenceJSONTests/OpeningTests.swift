import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceJSON
import TestSupport
import Testing

/// Opening stores, other folders and read-only folders (contract E5).
struct OpeningTests {
  @Test("E5 each invalid path has its own error, and stays unchanged")
  func wrongPlaces() throws {
    let place = try TemporaryStore()
    #expect(code { _ = try place.openForReading() } == .missingStore)
    let existing = JSONDirectoryConfiguration(createsStore: false)
    #expect(
      code { _ = try JSONDirectoryContext(path: place.path, configuration: existing) } == .missingStore)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    #expect(code { _ = try JSONDirectoryContext(path: place.path + "/a/b") } == .missingStore)
    #expect(code { _ = try JSONDirectoryContext(path: "/dev/null") } == .notAStore)
    try place.makeFolder()
    #expect(
      code { _ = try JSONDirectoryContext(path: place.path, configuration: existing) } == .missingStore)
    try place.write("{}", to: "package.json")
    #expect(code { _ = try place.open() } == .notAStore)
    #expect(try place.names("") == ["package.json"])
  }

  @Test("a path may be relative, end in a slash, and contain any scalar")
  func paths() throws {
    let place = try TemporaryStore()
    for name in ["plain/", "with space", "é%41?", "-dash"] {
      let path = place.path + name
      try JSONDirectoryContext(path: path).save(Films.row(1, "One"))
      #expect(try JSONDirectoryContext(path: path).titles() == ["One"])
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test("E5 a read-only context reads, and rejects writes")
  func readOnly() throws {
    let place = try TemporaryStore()
    try place.open().save(Films.row(1, "One"))
    let context = try place.openForReading()
    #expect(context.capabilities.isReadOnly)
    #expect(try context.titles() == ["One"])
    #expect(code { try context.save(Films.row(2, "Two")) } == .readOnly)
    try place.open().save(Films.row(1, "Uno"))
    #expect(try context.titles() == ["Uno"])
  }

  @Test(
    "E5 a store whose catalog is missing is damaged, and does not open as an empty one",
    arguments: [["catalog.json"], ["catalog.json", "sequence"]])
  func missingCatalog(names: [String]) throws {
    let place = try TemporaryStore()
    let open = try place.open()
    try open.save(Films.row(1, "One"))
    let catalog = try place.text(".persistence/catalog.json")
    for name in names { try place.remove(".persistence/\(name)") }
    let existing = JSONDirectoryConfiguration(createsStore: false)
    for attempt in [
      { _ = try place.open() },
      { _ = try JSONDirectoryContext(path: place.path, configuration: existing) },
    ] as [() throws -> Void] {
      let error = try #require(throws: PersistenceError.self) { try attempt() }
      #expect(error.code == .damaged && error.message.contains(".persistence/catalog.json"), "\(error)")
    }
    if names.count == 1 {
      #expect(code { _ = try place.openForReading() } == .damaged)
      #expect(code { _ = try open.titles() } == .damaged)
      #expect(code { try open.save(Films.row(2, "Two")) } == .damaged)
    }
    try place.write(catalog, to: ".persistence/catalog.json")
    #expect(try place.open().titles() == ["One"])
  }

  @Test("a store without a commit, and one whose models were dropped, are empty and not damaged")
  func emptyStores() throws {
    let place = try TemporaryStore()
    try place.open().close()
    let context = try place.open()
    #expect(try context.catalog().isEmpty)
    try context.save(Films.row(1, "One"))
    try context.transaction { try $0.drop(Films.schema) }
    #expect(try place.open().catalog().isEmpty)
  }

  @Test("a store URL accepts known options and rejects others")
  func engine() throws {
    let place = try TemporaryStore()
    func open(_ query: String) throws -> any PersistentContext {
      try StorageEngine.open("json:\(place.path)\(query)", engines: [.json], monitoring: Monitoring())
    }
    _ = try #require(try open("?synchronous=off&busy=1s&create=true") as? JSONDirectoryContext)
    _ = try #require(try open("?readonly=true") as? JSONDirectoryContext)
    for query in ["?synchronous=maybe", "?sync=full", "?readonly=1", "?busy=5"] {
      #expect(code { _ = try open(query) } == .invalidURL)
    }
    #expect(
      code { _ = try StorageEngine.open("json:", engines: [.json], monitoring: Monitoring()) }
        == .invalidURL)
  }

  @Test("two contexts create one store concurrently")
  func madeAtOnce() throws {
    for _ in 0..<20 {
      let place = try TemporaryStore()
      let failures = Failures()
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        do {
          try place.open().save(Films.row(Int64(worker), "x"))
        } catch {
          failures.note("\(error)")
        }
      }
      #expect(failures.all == [])
      #expect(try place.open().rows().count == 4)
    }
  }

  @Test("a store that another context creates and fills during an opening is opened")
  func madeMeanwhile() throws {
    let place = try TemporaryStore()
    try place.open(step: { step in
      if step == "no store" { try place.open().save(Films.row(1, "One")) }
    }).save(Films.row(2, "Two"))
    #expect(try place.open().rows().count == 2)
  }

  @Test("E4 another schema of a model is rejected with the differences")
  func otherSchema() throws {
    let place = try TemporaryStore()
    let context = try place.open()
    try context.save(Films.row(1, "One"))
    let other = try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("name", .string)], key: ["id"])
    #expect(code { _ = try context.rows(of: other) } == .schemaMismatch)
    #expect(code { try context.save([.integer(1), .text("x")], in: other) } == .schemaMismatch)
    #expect(try context.titles() == ["One"])
  }

  @Test("a schema with another order of fields reads and writes the same records")
  func otherOrder() throws {
    let place = try TemporaryStore()
    let context = try place.open()
    try context.save(Films.row(1, "One", "a"))
    let turned = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("code", .string, isOptional: true), FieldSchema("title", .string),
        FieldSchema("id", .int64),
      ],
      key: ["id"], indexes: [IndexSchema(["code"], isUnique: true)])
    #expect(try context.rows(of: turned) == [[.text("a"), .text("One"), .integer(1)]])
    try context.save([.text("b"), .text("Two"), .integer(2)], in: turned)
    #expect(code { try context.save(Films.row(3, "Three", "b")) } == .uniqueViolation)
    #expect(try context.titles() == ["One", "Two"])
  }
}
