import CLMDB
import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceKeyValue
import PersistenceLMDB
import Testing

@Suite("Changes of schema with early commits in LMDB")
struct EarlyCommitTests {
  struct Stopped: Error {}

  /// More records than are copied before the first early commit.
  static let count = 5_000
  /// A record after several early commits.
  static let late = 4_500
  /// A memory that splits the copying into several transactions.
  private static let configuration: LMDBConfiguration = {
    var configuration = LMDBConfiguration()
    configuration.indexMemory = 4096
    return configuration
  }()

  static func schema(_ added: [FieldSchema] = [], name: String = "Film") throws -> ModelSchema {
    try ModelSchema(
      name: name,
      fields: [FieldSchema("id", .int64), FieldSchema("year", .int64), FieldSchema("note", .string)] + added,
      key: ["id"], indexes: [IndexSchema(["year"])])
  }

  /// Adds the decade, which is computed from the year.
  static func change(
    name: String = "Film", at moment: @escaping @Sendable (Int64) throws -> Void = { _ in }
  ) throws -> SchemaChange {
    try SchemaChange(
      from: schema(name: name), to: schema([FieldSchema("decade", .int64)], name: name),
      sources: [.field(0), .field(1), .field(2), .computed], computeSources: [0, 1]
    ) { row, computed in
      guard case .integer(let id) = try row.value(at: 0), case .integer(let year) = try row.value(at: 1)
      else {
        return
      }
      try moment(id)
      computed.set(.integer(year / 10), at: 0)
    }
  }

  static func fill(_ context: LMDBContext, name: String = "Film") throws {
    let schema = try schema(name: name)
    let note = String(repeating: "x", count: 300)
    try context.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 3)
      for number in 0..<count {
        row.set([.integer(Int64(number)), .integer(Int64(1900 + number % 100)), .text(note)])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
  }

  static func prepare(_ change: SchemaChange, _ transaction: any StorageTransaction) throws -> Bool {
    try #require(transaction as? KeyValueTransaction).prepare(change)
  }

  /// Checks records at both ends and in the middle, the number of all, and the index.
  static func expectFilms(_ schema: ModelSchema, _ reader: any StorageReader) throws {
    #expect(try reader.count(FetchRequest(schema)) == count)
    for number in [0, 1, late - 1, late, count - 1] {
      var values: [PersistentValue] = []
      #expect(try reader.find(RecordKey([.integer(Int64(number))]), in: schema) { values = try $0.values() })
      #expect(values.prefix(2) == [.integer(Int64(number)), .integer(Int64(1900 + number % 100))])
      if values.count == 4 { #expect(values[3] == .integer(Int64(1900 + number % 100) / 10)) }
    }
    let year = PredicateNode.comparison(field: "year", .equal, .integer(1907))
    let request = try FetchRequest(schema, where: year, order: [FieldOrder("year")])
    #expect(try reader.count(request) == count / 100)
    #expect(try reader.plan(for: request).access == .index(["year"]))
    var read = 0
    _ = try reader.fetch(request).read(from: 0, limit: .max) { row in
      let year = try row.value(at: 1)
      #expect(year == .integer(1907))
      read += 1
    }
    #expect(read == count / 100)
  }

  /// The number of records of all models and copies in a store that no context has open.
  static func entries(_ scratch: Scratch) throws -> Int {
    var environment: OpaquePointer?
    #expect(mdb_env_create(&environment) == MDB_SUCCESS)
    defer { mdb_env_close(environment) }
    mdb_env_set_maxdbs(environment, 8)
    #expect(mdb_env_open(environment, scratch.path, UInt32(MDB_RDONLY | MDB_NOTLS), 0o644) == MDB_SUCCESS)
    var transaction: OpaquePointer?
    #expect(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction) == MDB_SUCCESS)
    defer { mdb_txn_abort(transaction) }
    var records: MDB_dbi = 0
    #expect(mdb_dbi_open(transaction, "records", 0, &records) == MDB_SUCCESS)
    var status = MDB_stat()
    #expect(mdb_stat(transaction, records, &status) == MDB_SUCCESS)
    return status.ms_entries
  }

  @Test("S5 a prepared change is complete after its commit, and leaves no copy")
  func prepared() throws {
    let scratch = try Scratch()
    let context = try scratch.open(Self.configuration)
    try Self.fill(context)
    let (snapshot, change) = (try context.snapshot(), try Self.change())
    try context.transaction { transaction in
      let isPrepared = try Self.prepare(change, transaction)
      #expect(isPrepared)
      // Neither this transaction nor another reader sees anything yet.
      try Self.expectFilms(change.stored, transaction)
      try Self.expectFilms(change.stored, context)
      try transaction.evolve(change)
      try Self.expectFilms(change.target, transaction)
    }
    try Self.expectFilms(change.target, context)
    try Self.expectFilms(change.stored, snapshot)
    try context.close()
    let reopened = try scratch.open(Self.configuration)
    try Self.expectFilms(change.target, reopened)
    try reopened.close()
    #expect(try Self.entries(scratch) == Self.count)
  }

  @Test("S5 two models are prepared in one transaction")
  func two() throws {
    let scratch = try Scratch()
    let context = try scratch.open(Self.configuration)
    let names = ["Film", "Play"]
    for name in names { try Self.fill(context, name: name) }
    let changes = try names.map { try Self.change(name: $0) }
    try context.transaction { transaction in
      let arePrepared = try changes.map { try Self.prepare($0, transaction) }
      #expect(arePrepared == [true, true])
      for change in changes { try transaction.evolve(change) }
    }
    for change in changes { try Self.expectFilms(change.target, context) }
    try context.close()
    #expect(try Self.entries(scratch) == 2 * Self.count)
  }

  @Test("S5 an error after an early commit leaves the store as it was, without the copy")
  func failing() throws {
    let scratch = try Scratch()
    let context = try scratch.open(Self.configuration)
    try Self.fill(context)
    let change = try Self.change { if $0 == Self.late { throw Stopped() } }
    #expect(throws: Stopped.self) {
      try context.transaction { transaction in
        _ = try Self.prepare(change, transaction)
        Issue.record("the computation did not stop")
      }
    }
    try Self.expectFilms(change.stored, context)
    let complete = try Self.change()
    #expect(throws: Stopped.self) {
      try context.transaction { transaction in
        _ = try Self.prepare(complete, transaction)
        try transaction.evolve(complete)
        throw Stopped()
      }
    }
    #expect(try context.catalog() == [change.stored])
    try Self.expectFilms(change.stored, context)
    try context.close()
    #expect(try Self.entries(scratch) == Self.count)
  }

  @Test("S5 E7 a store that becomes full is as it was, and has its space again")
  func full() throws {
    let scratch = try Scratch()
    var configuration = Self.configuration
    configuration.mapSize = 3 << 20
    let context = try scratch.open(configuration)
    try Self.fill(context)
    let change = try Self.change()
    for _ in 0..<3 {
      expectError(.storeFull) {
        try context.transaction { transaction in
          _ = try Self.prepare(change, transaction)
          Issue.record("the store has space for two copies")
        }
      }
      try Self.expectFilms(change.stored, context)
    }
    try context.close()
    #expect(try Self.entries(scratch) == Self.count)
    configuration.mapSize = 16 << 20
    let larger = try scratch.open(configuration)
    try larger.transaction { transaction in
      _ = try Self.prepare(change, transaction)
      try transaction.evolve(change)
    }
    try Self.expectFilms(change.target, larger)
    try larger.close()
    #expect(try Self.entries(scratch) == Self.count)
  }

  @Test("S5 a copy that the transaction did not use, or that is older than a record, is not kept")
  func unused() throws {
    let scratch = try Scratch()
    let context = try scratch.open(Self.configuration)
    try Self.fill(context)
    let change = try Self.change()
    try context.transaction { _ = try Self.prepare(change, $0) }
    try Self.expectFilms(change.stored, context)
    try context.transaction { transaction in
      _ = try Self.prepare(change, transaction)
      let row = RowBuffer(count: 3)
      row.set([.integer(3), .integer(2050), .text("new")])
      try row.withRow { try transaction.save($0, in: change.stored) }
      let isPrepared = try Self.prepare(change, transaction)
      #expect(!isPrepared, "the transaction has written a record")
      try transaction.evolve(change)
    }
    var decade: PersistentValue?
    _ = try context.find(RecordKey([.integer(3)]), in: change.target) { decade = try $0.value(at: 3) }
    #expect(decade == .integer(205))
    try context.close()
    #expect(try Self.entries(scratch) == Self.count)
  }

  @Test("S5 a nested transaction commits nothing early")
  func nested() throws {
    let scratch = try Scratch()
    let context = try scratch.open(Self.configuration)
    try Self.fill(context)
    let (change, version) = (try Self.change(), try context.snapshot())
    try context.transaction { transaction in
      try transaction.nested {
        let isPrepared = try Self.prepare(change, transaction)
        try transaction.evolve(change)
        #expect(!isPrepared)
      }
    }
    try Self.expectFilms(change.target, context)
    try Self.expectFilms(change.stored, version)
    try context.close()
    #expect(try Self.entries(scratch) == Self.count)
  }

  @Test(
    "S5 D3 a process that is killed after an early commit leaves the old store, and the next change removes the copy"
  )
  func killed() async throws {
    let scratch = try Scratch(sharedAs: "early", by: getpid())
    defer { try? FileManager.default.removeItem(at: scratch.folder) }
    try await #require(
      processExitsWith: .signal(SIGKILL),
      performing: {
        let context = try Scratch(sharedAs: "early", by: getppid()).open(Self.configuration)
        try Self.fill(context)
        let change = try Self.change { if $0 == Self.late { kill(getpid(), SIGKILL) } }
        try context.transaction { _ = try Self.prepare(change, $0) }
      })
    #expect(try Self.entries(scratch) > Self.count, "nothing was committed early")
    let (context, change) = (try scratch.open(Self.configuration), try Self.change())
    #expect(try context.catalog() == [change.stored])
    try Self.expectFilms(change.stored, context)
    try context.verify { Issue.record("\($0)") }
    try context.transaction { try $0.evolve(change) }
    try Self.expectFilms(change.target, context)
    try context.verify { Issue.record("\($0)") }
    try context.close()
    #expect(try Self.entries(scratch) == Self.count)
  }
}
