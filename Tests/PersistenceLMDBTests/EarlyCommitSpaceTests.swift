import CLMDB
import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceLMDB

/// The map has space for the records and one copy of them, and little more.
@Suite("Space for changes of schema with early commits in LMDB")
struct EarlyCommitSpaceTests {
  struct Stopped: Error {}

  /// The early commits come so late that a repeated change copies most records before the first one.
  private static func configuration(mapSize: Int) -> LMDBConfiguration {
    var configuration = LMDBConfiguration(mapSize: mapSize)
    configuration.indexMemory = 1_200_000
    return configuration
  }

  /// The size of a map in which the change has the space that it needs in a new store, and a quarter of a megabyte.
  private static func mapSize() throws -> Int {
    let scratch = try Scratch()
    let context = try scratch.open(configuration(mapSize: 64 << 20))
    try EarlyCommitTests.fill(context)
    try change(context)
    try context.close()
    let header = try LMDBHeader.read(scratch.data.path)
    return header.usedSize + 64 * header.pageSize
  }

  private static func change(_ context: LMDBContext) throws {
    let change = try EarlyCommitTests.change()
    try context.transaction { transaction in
      let isPrepared = try EarlyCommitTests.prepare(change, transaction)
      #expect(isPrepared)
      try transaction.evolve(change)
    }
    try EarlyCommitTests.expectFilms(change.target, context)
  }

  /// Fails after an early commit.
  private static func fail(
    _ context: LMDBContext, _ atFailure: @escaping @Sendable () throws -> Void = {}
  ) throws {
    let change = try EarlyCommitTests.change { id in
      guard id == EarlyCommitTests.late else { return }
      try atFailure()
      throw Stopped()
    }
    #expect(throws: Stopped.self) {
      try context.transaction { _ = try EarlyCommitTests.prepare(change, $0) }
    }
    try EarlyCommitTests.expectFilms(change.stored, context)
  }

  /// The greatest number that a store has given to a model or a copy of records; nil if it has recorded none.
  private static func lastNumber(_ scratch: Scratch) throws -> UInt64? {
    var environment: OpaquePointer?
    #expect(mdb_env_create(&environment) == MDB_SUCCESS)
    defer { mdb_env_close(environment) }
    mdb_env_set_maxdbs(environment, 8)
    #expect(mdb_env_open(environment, scratch.path, UInt32(MDB_RDONLY | MDB_NOTLS), 0o644) == MDB_SUCCESS)
    var transaction: OpaquePointer?
    #expect(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction) == MDB_SUCCESS)
    defer { mdb_txn_abort(transaction) }
    var catalog: MDB_dbi = 0
    #expect(mdb_dbi_open(transaction, "catalog", 0, &catalog) == MDB_SUCCESS)
    var name = Array("last".utf8)
    return name.withUnsafeMutableBytes { name in
      var (key, value) = (MDB_val(mv_size: name.count, mv_data: name.baseAddress), MDB_val())
      guard mdb_get(transaction, catalog, &key, &value) == MDB_SUCCESS, value.mv_size == 8 else { return nil }
      return value.mv_data.map { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
  }

  @Test("E7 S5 changes that fail after an early commit leave their space and their numbers to the next one")
  func failing() throws {
    let configuration = Self.configuration(mapSize: try Self.mapSize())
    let scratch = try Scratch()
    let context = try scratch.open(configuration)
    try EarlyCommitTests.fill(context)
    try Self.fail(context)
    try context.close()
    let last = try Self.lastNumber(scratch)
    #expect(last == 1, "the model has the only number")
    let reopened = try scratch.open(configuration)
    try Self.fail(reopened)
    try Self.change(reopened)
    try reopened.verify { Issue.record("\($0)") }
    try reopened.close()
    #expect(try EarlyCommitTests.entries(scratch) == EarlyCommitTests.count)
    #expect(try Self.lastNumber(scratch) == 2)
  }

  @Test("E5 S5 an impossible number of pages in the record of a tree is damaged, and does not crash")
  func impossiblePages() throws {
    let scratch = try Scratch()
    let configuration = Self.configuration(mapSize: 64 << 20)
    let context = try scratch.open(configuration)
    try EarlyCommitTests.fill(context)
    try context.close()
    var data = try Data(contentsOf: scratch.data)
    // The node of the main database: the size of its value, its flags, the length of its key, and the key.
    let node = Data([48, 0, 0, 0, 2, 0, 7, 0]) + Data("records".utf8)
    let number = withUnsafeBytes(of: Int.max.littleEndian) { Data($0) }
    var (start, found) = (0, 0)
    while let range = data.range(of: node, in: start..<data.count) {
      // The value has the number of branch pages after eight bytes.
      data.replaceSubrange(range.upperBound + 8..<range.upperBound + 16, with: number)
      start = range.upperBound
      found += 1
    }
    #expect(found > 0)
    try data.write(to: scratch.data)
    let reopened = try scratch.open(configuration)
    let change = try EarlyCommitTests.change()
    let error = expectError(.damaged) {
      try reopened.transaction { _ = try EarlyCommitTests.prepare(change, $0) }
    }
    #expect(error?.location == reopened.location)
    try EarlyCommitTests.expectFilms(change.stored, reopened)
    try reopened.close()
  }

  @Test("E7 S5 a change that a kill ended after an early commit leaves its space to the next one")
  func killed() throws {
    let configuration = Self.configuration(mapSize: try Self.mapSize())
    let (scratch, left) = (try Scratch(), try Scratch("left"))
    try FileManager.default.createDirectory(atPath: left.path, withIntermediateDirectories: true)
    let context = try scratch.open(configuration)
    try EarlyCommitTests.fill(context)
    // The file of this moment is the one that a kill leaves.
    let (from, to) = (scratch.data, left.data)
    try Self.fail(context) { try FileManager.default.copyItem(at: from, to: to) }
    try context.close()
    #expect(try EarlyCommitTests.entries(left) > EarlyCommitTests.count, "nothing was committed early")
    let reopened = try left.open(configuration)
    try Self.change(reopened)
    try reopened.verify { Issue.record("\($0)") }
    try reopened.close()
    #expect(try EarlyCommitTests.entries(left) == EarlyCommitTests.count)
  }
}
