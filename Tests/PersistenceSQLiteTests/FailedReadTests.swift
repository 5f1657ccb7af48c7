import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Reads after an error with which SQLite ends the transaction of the result's snapshot.
@Suite("R2 R4: results after a failed read")
struct FailedReadTests {
  private let scratch: Scratch
  private let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    schema = try Fixtures.movies()
  }

  /// A context of movies, of which the last one is on a page with a wrong checksum.
  private func open() throws -> SQLiteContext {
    let made = try scratch.open { $0.checksums = true }
    try made.fill(schema, 0..<400)
    try made.fill(schema, [[.integer(400), .text("z marker"), .null, .integer(400), .null]])
    try made.close()
    var content = try scratch.bytes("store.sqlite")
    // The record, and its entry in the index.
    while let place = content.range(of: Data("z marker".utf8)) {
      content[place.lowerBound] = UInt8(ascii: "y")
    }
    try content.write(to: URL(fileURLWithPath: scratch.path()))
    return try scratch.open { $0.poolSize = 1 }
  }

  private func budget(_ results: any StorageResults) throws -> PersistentValue? {
    var budget: PersistentValue?
    _ = try results.read(from: 0, limit: 1) { budget = try $0.values()[3] }
    return budget
  }

  private func readDamage(_ results: any StorageResults) -> PersistenceError.Code? {
    code { _ = try results.read(from: 400, limit: 1) { _ in } }
  }

  @Test("R2 R4 a result whose read failed throws that error again, and shows no newer state")
  func retry() throws {
    let context = try open()
    let results = try context.fetch(FetchRequest(schema))
    #expect(try budget(results) == .integer(0))
    #expect(readDamage(results) == .damaged)
    try context.execute("UPDATE Movie SET budget = -1 WHERE id = 0")
    #expect(code { _ = try budget(results) } == .damaged)
    #expect(code { _ = try results.count() } == .damaged)
    #expect(try budget(context.fetch(FetchRequest(schema))) == .integer(-1))
  }

  @Test("R2 a new result does not share the transaction of a failed one")
  func sharing() throws {
    let context = try open()
    let first = try context.fetch(FetchRequest(schema))
    let second = try context.fetch(FetchRequest(schema))
    #expect(readDamage(second) == .damaged)
    let third = try context.fetch(FetchRequest(schema))
    #expect(try budget(third) == .integer(0))
    try context.execute("UPDATE Movie SET budget = -1 WHERE id = 0")
    #expect(try budget(third) == .integer(0))
    #expect(try budget(first) == .integer(0))
    #expect(code { _ = try budget(second) } == .damaged)
  }
}
