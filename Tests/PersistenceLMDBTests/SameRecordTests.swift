import Foundation
import PersistenceDriver
import PersistenceKeyValue
import Testing

@testable import PersistenceLMDB

@Suite("Records that are saved again with the same values")
struct SameRecordTests {
  private func notes(_ text: String) -> [(String, String?)] {
    (0..<200).map { ("note \($0)", String(repeating: text, count: 2_000)) }
  }

  /// The number of pages that a closure adds to a store, of which a result holds all earlier pages.
  private func pagesAdded(
    _ scratch: Scratch, _ context: LMDBContext, _ schema: ModelSchema, _ body: () throws -> Void
  ) throws -> Int {
    let held = try context.fetch(FetchRequest(schema))
    defer { withExtendedLifetime(held) {} }
    let before = try LMDBHeader.read(scratch.data.path).lastPage
    try body()
    return try LMDBHeader.read(scratch.data.path).lastPage - before
  }

  @Test(
    "W1 a transaction writes only those of its records that differ from the stored ones",
    arguments: [false, true])
  func unchanged(isIndexed: Bool) throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: isIndexed ? [IndexSchema(["text"])] : [])
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    try context.save(notes("x"), schema)
    let few = try pagesAdded(scratch, context, schema) {
      try context.save(notes("x") + [("new", nil)], schema)
    }
    let many = try pagesAdded(scratch, context, schema) { try context.save(notes("y"), schema) }
    #expect(few < 20 && many > 80, "\(few) and \(many) pages")
    #expect(try context.count(FetchRequest(schema)) == 201)
    #expect(try context.text("note 199", schema) == .text(String(repeating: "y", count: 2_000)))
    #expect(try context.text("new", schema) == .null)
    let request = try FetchRequest(schema, where: .comparison(field: "text", .greater, .text("x")))
    #expect(try context.count(request) == 200)
    // The first record is written in any case, so the second one is compared.
    try context.save([("note 0", nil), ("note 1", "z"), ("note 1", "z"), ("note 1", nil)], schema)
    #expect(try context.text("note 1", schema) == .null)
  }

  @Test("W5 a transaction that changes nothing still commits a new state, which is durable")
  func durable() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    for _ in 0..<2 {
      let before = try LMDBHeader.read(scratch.data.path).transaction
      try context.save(notes("x"), schema)
      #expect(try LMDBHeader.read(scratch.data.path).transaction > before)
    }
    // A nested transaction that rolls back leaves nothing to commit.
    let before = try LMDBHeader.read(scratch.data.path).transaction
    struct RolledBack: Error {}
    try context.transaction { transaction in
      let row = RowBuffer(count: 2)
      row.set([.text("note 7"), .text(String(repeating: "x", count: 2_000))])
      #expect(throws: RolledBack.self) {
        try transaction.nested {
          try row.withRow { try transaction.save($0, in: schema) }
          throw RolledBack()
        }
      }
      try row.withRow { try transaction.save($0, in: schema) }
    }
    #expect(try LMDBHeader.read(scratch.data.path).transaction > before)
  }

  @Test("W5 a nested transaction that cannot commit leaves nothing to commit")
  func uncommitted() throws {
    let scratch = try Scratch()
    let handle = try LMDBHandle(
      path: scratch.folder.path, header: nil, LMDBSettings(LMDBConfiguration(mapSize: 1 << 20)))
    defer { handle.close() }
    let isMade = try handle.openSpaces(create: true)
    #expect(isMade)
    let writer = try LMDBTransaction(handle, .off)
    defer { writer.abort() }
    func put(byteCount: Int) throws {
      try withUnsafeBytes(of: UInt64(7)) { key in
        _ = try writer.reserve(key, count: byteCount, in: .records, isReplacing: true)
      }
    }
    var failures = 0
    var hadChanges = false
    do {
      try writer.nested {
        try put(byteCount: 8)
        hadChanges = writer.commitsState
        // LMDB commits no child after a failure, of which the closure says nothing.
        do { try put(byteCount: 8 << 20) } catch { failures += 1 }
      }
    } catch is PersistenceError { failures += 1 }
    #expect(hadChanges)
    #expect(failures == 2)
    #expect(!writer.commitsState)
  }

  @Test("E5 a damaged record that is saved again with the same values is sound")
  func damaged() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    let marker = "the text that will be damaged"
    try context.save([("first", "text"), ("second", marker)], schema)
    try context.close()
    var data = try Data(contentsOf: scratch.data)
    while let place = data.range(of: Data(marker.utf8)) { data[place.lowerBound + 4] ^= 0x01 }
    try data.write(to: scratch.data)
    let again = try scratch.open()
    expectError(.damaged) { try again.text("second", schema) }
    try again.save([("first", "text"), ("second", marker)], schema)
    #expect(try again.text("second", schema) == .text(marker))
  }
}
