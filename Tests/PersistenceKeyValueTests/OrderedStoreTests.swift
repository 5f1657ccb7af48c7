import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization
import Testing

@Suite("Ordered stores")
struct OrderedStoreTests {
  private static let underTest = ContextUnderTest("volatile") { _, options, monitoring in
    var configuration = OrderedStoreConfiguration()
    (configuration.isDurable, configuration.hasFiles) = (false, false)
    configuration.isReadOnly = options.isReadOnly
    configuration.monitoring = monitoring
    if let milliseconds = options.busyMilliseconds { configuration.busyTimeout = .milliseconds(milliseconds) }
    return try OrderedStoreContext(VolatileStore(), configuration: configuration)
  }

  private let schema: ModelSchema
  private let store = VolatileStore()

  init() throws {
    schema = try ModelSchema(
      name: "Item", fields: [FieldSchema("id", .int64), FieldSchema("name", .string)], key: ["id"],
      indexes: [IndexSchema(["name"], isUnique: true)])
  }

  private func save(_ id: Int64, _ name: String, in transaction: any StorageTransaction) throws {
    let row = RowBuffer(count: 2)
    row.set([.integer(id), .text(name)])
    try row.withRow { try transaction.save($0, in: schema) }
  }

  private func names(_ reader: any StorageReader) throws -> [String] {
    var names: [String] = []
    _ = try reader.fetch(FetchRequest(schema)).read(from: 0, limit: .max) { row in
      if case .text(let name) = try row.value(at: 1) { names.append(name) }
    }
    return names
  }

  @Test(
    "a store whose bytes last no longer than promised keeps the contract",
    arguments: ConformanceCheck.all)
  func contract(check: ConformanceCheck) async throws {
    if try check.excuse(for: Self.underTest) == nil { try await check.run(on: Self.underTest) }
  }

  @Test("random programs on a store with short-lived bytes and short keys", arguments: [4, 5] as [UInt64])
  func fuzz(seed: UInt64) throws {
    let report = try Fuzzer(seed: seed, operations: 1_000).run(on: [Self.underTest])
    #expect(report.differences.isEmpty && report.operations >= 1_000)
  }

  @Test("E2: an error of the engine becomes engineFailure, ends the transaction and leaves nothing")
  func failure() throws {
    let context = try OrderedStoreContext(store)
    try context.transaction { try $0.define(schema) }
    for writes in 1...4 {
      store.state.withLock { $0.writesUntilFailure = writes }
      let error = #expect(throws: PersistenceError.self) {
        try context.transaction { transaction in
          for id in 1...9 { try? save(Int64(id), "\(id)", in: transaction) }
        }
      }
      #expect(error?.code == .engineFailure && error?.location == store.location)
      store.state.withLock { $0.writesUntilFailure = nil }
      #expect(try names(context) == [])
    }
    #expect(store.state.withLock { !$0.isWriting && $0.rollbacks == 4 })
  }

  @Test("W3: a nested transaction that throws restores the entries from before it")
  func nested() throws {
    struct Stop: Error {}
    let context = try OrderedStoreContext(store)
    try context.transaction { transaction in
      try transaction.define(schema)
      try save(1, "a", in: transaction)
      try transaction.nested {
        try save(2, "b", in: transaction)
        try? transaction.nested {
          try save(1, "c", in: transaction)
          _ = try transaction.delete(RecordKey([.integer(2)]), in: schema)
          throw Stop()
        }
        #expect(try names(transaction) == ["a", "b"])
      }
      try? transaction.nested {
        _ = try transaction.deleteAll(in: schema)
        throw Stop()
      }
    }
    #expect(try names(context) == ["a", "b"])
  }

  @Test("S6: opening and a transaction without changes write nothing")
  func unchanged() throws {
    let context = try OrderedStoreContext(store)
    try context.transaction { _ = try $0.catalog() }
    #expect(store.state.withLock { $0.version == 0 && $0.content.isEmpty && $0.rollbacks == 1 })
    #expect(try context.catalog().isEmpty)
  }

  @Test("E5: a store with other data is notAStore, and a key limit out of range is refused")
  func refused() throws {
    let transaction = try #require(try store.beginWriting(until: .now))
    try [UInt8(1)].withUnsafeBytes { try transaction.put($0, $0, in: .records) }
    try transaction.commit()
    let foreign = #expect(throws: PersistenceError.self) { try OrderedStoreContext(store) }
    #expect(foreign?.code == .notAStore)
    for limit in [127, 65_536] {
      let error = #expect(throws: PersistenceError.self) {
        try OrderedStoreContext(VolatileStore(longestKey: limit))
      }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test("R3: a closed context releases its store with the last result")
  func release() throws {
    weak var released: VolatileStore?
    var results: (any StorageResults)?
    do {
      let store = VolatileStore()
      released = store
      let context = try OrderedStoreContext(store)
      try context.transaction { transaction in
        try transaction.define(schema)
        for id in 1...300 { try save(Int64(id), "\(id)", in: transaction) }
      }
      results = try context.fetch(FetchRequest(schema))
      try context.close()
      #expect(throws: PersistenceError.self) { try context.catalog() }
    }
    #expect(released != nil)
    #expect(try results?.count() == 300)
    results = nil
    #expect(released == nil)
  }
}
