import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@testable import PersistenceLMDB

@Suite("E7: the map")
struct MapTests {
  private static let text = String(repeating: "x", count: 1000)

  @Test(
    "E7 a full map throws storeFull and names the option; committed data is intact, and the store stays usable"
  )
  func full() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    try context.save([("kept", "text")], schema)
    let result = try context.fetch(FetchRequest(schema))
    let error = expectError(.storeFull) {
      try context.save((0..<5000).map { ("\($0)", Self.text) }, schema)
    }
    #expect(error?.message.contains("mapsize") == true)
    #expect(error?.engineError?.engine == "LMDB")
    #expect(try result.keys() == ["kept"])
    #expect(try context.keys(FetchRequest(schema)) == ["kept"])
    try context.save([("more", nil)], schema)
    // An error that the closure ignores still fails the transaction.
    expectError(.storeFull) {
      try context.transaction { transaction in
        let row = RowBuffer(count: 2)
        for number in 0..<5000 {
          row.set([.text("\(number)"), .text(Self.text)])
          try? row.withRow { try transaction.save($0, in: schema) }
        }
      }
    }
    #expect(try context.keys(FetchRequest(schema)) == ["kept", "more"])
    try context.close()
    // The live result keeps the store open, so its map cannot grow yet.
    expectError(.invalidRequest) { try scratch.open(LMDBConfiguration(mapSize: 64 << 20)) }
    #expect(try result.keys() == ["kept"])
  }

  @Test("E7 a larger map size takes effect at the next opening, and is recorded")
  func grown() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let small = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    try small.save([("kept", "text")], schema)
    try small.close()
    let large = try scratch.open(LMDBConfiguration(mapSize: 32 << 20))
    try large.save((0..<5000).map { ("\($0)", Self.text) }, schema)
    try large.close()
    #expect(try LMDBHeader.read(scratch.data.path).mapSize == 32 << 20)
    // A smaller size is ignored: other processes could not see the data beyond it.
    let again = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    #expect(try again.count(FetchRequest(schema)) == 5001)
    try again.save([("more", nil)], schema)
  }

  @Test("W3 only the nested transaction that fills the map rolls back")
  func nested() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    try context.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 2)
      row.set([.text("kept"), .null])
      try row.withRow { try transaction.insert($0, in: schema) }
      expectError(.storeFull) {
        try transaction.nested {
          for number in 0..<5000 {
            row.set([.text("\(number)"), .text(Self.text)])
            try row.withRow { try transaction.save($0, in: schema) }
          }
        }
      }
      #expect(try transaction.count(FetchRequest(schema)) == 1)
      row.set([.text("more"), .null])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
    #expect(try context.keys(FetchRequest(schema)) == ["kept", "more"])
  }

  @Test("C2 reading and writing continue after another process has grown the store")
  func resized() async throws {
    let scratch = try Scratch(sharedAs: "resized", by: getpid())
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    try context.save([("kept", "text")], schema)
    let session = try LMDBRegistry.open(
      scratch.path, LMDBConfiguration(), ContextMonitor(Monitoring(), location: ""))
    #expect(try !session.environment.commits.check())
    try await #require(
      processExitsWith: .success,
      performing: {
        let scratch = try Scratch(sharedAs: "resized", by: getppid())
        let schema = try Scratch.schema()
        let large = try scratch.open(LMDBConfiguration(mapSize: 32 << 20))
        try large.save((0..<5000).map { ("\($0)", MapTests.text) }, schema)
        try large.close()
      })
    #expect(
      try session.environment.commits.check(), "U1 the commit is seen, and the next read opens the larger map"
    )
    #expect(try context.count(FetchRequest(schema)) == 5001)
    let result = try context.fetch(FetchRequest(schema))
    try context.save((0..<5000).map { ("\($0)", MapTests.text + "y") }, schema)
    #expect(try result.count() == 5001)
  }

  @Test("C2 a result has the records of a store that another process has grown since a reader was idle")
  func resizedForResults() async throws {
    let scratch = try Scratch(sharedAs: "resized for results", by: getpid())
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(mapSize: 1 << 20))
    try context.save([("kept", "text")], schema)
    let session = try LMDBRegistry.open(
      scratch.path, LMDBConfiguration(), ContextMonitor(Monitoring(), location: ""))
    // Leaves an idle reader behind.
    let before = try context.fetch(FetchRequest(schema)).count()
    #expect(before == 1)
    #expect(session.environment.state.withLock { $0.idle.count } > 0)
    try await #require(
      processExitsWith: .success,
      performing: {
        let scratch = try Scratch(sharedAs: "resized for results", by: getppid())
        let schema = try Scratch.schema()
        let large = try scratch.open(LMDBConfiguration(mapSize: 32 << 20))
        try large.save((0..<5000).map { ("\($0)", MapTests.text) }, schema)
        try large.close()
      })
    var result: (any StorageResults)? = try context.fetch(FetchRequest(schema))
    #expect(try result?.count() == 5001)
    #expect(session.environment.live == 1)
    result = nil
    #expect(session.environment.live == 0)
    #expect(session.environment.state.withLock { $0.pinned } == 0)
  }
}
