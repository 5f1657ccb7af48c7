import PersistenceConformance
import PersistenceDriver
import PersistenceKeyValue
import Testing

/// Indexes that a change of schema leaves unbuilt equal, byte for byte, those that it builds at once.
@Suite("Waiting indexes")
struct WaitingIndexTests {
  struct RolledBack: Error {}

  /// Two stores with the same records: in one, new indexes wait.
  private final class Stores {
    let items: RandomItems
    let (first, second): (ModelSchema, ModelSchema)
    let (reference, bytes): (ArrayByteStore, ArrayByteStore)
    private let plain = KeyValueStore(location: "plain", indexBuilding: .small)
    /// Replaced to simulate another process.
    var store = KeyValueStore(location: "waiting", indexBuilding: .small)

    init(seed: UInt64, longestKey: Int) throws {
      items = try RandomItems(seed: seed)
      second = items.schema
      first = try ModelSchema(
        name: second.name, fields: second.fields, key: second.key,
        indexes: second.indexes.filter { $0.isUnique || $0.fields == ["s"] })
      (reference, bytes) = (ArrayByteStore(longestKey: longestKey), ArrayByteStore(longestKey: longestKey))
      let schema = first
      try both { try $0.define(schema) }
    }

    func both(_ body: (KeyValueTransaction) throws -> Void) throws {
      try Self.transaction(plain, reference, body)
      try transaction(body)
    }

    func transaction(_ body: (KeyValueTransaction) throws -> Void) throws {
      try Self.transaction(store, bytes, body)
    }

    private static func transaction(
      _ store: KeyValueStore, _ bytes: ArrayByteStore, _ body: (KeyValueTransaction) throws -> Void
    ) throws {
      try bytes.nested {
        let transaction = KeyValueTransaction(store, bytes)
        var committed: Int?
        defer { transaction.end(committedAs: committed) }
        try body(transaction)
        try transaction.finish()
        committed = bytes.version
      }
    }

    /// Adds the indexes: at once in one store, deferred in the other.
    func evolve() throws {
      var change = try SchemaChange(
        from: first, to: second, sources: first.fields.indices.map { .field($0) })
      try Self.transaction(plain, reference) { try $0.evolve(change) }
      change.defersIndexes = true
      #expect(try store.cost(of: change, bytes) == .catalog)
      try transaction { try $0.evolve(change) }
    }

    /// Writes random records to both stores; skips those that the unique index rejects.
    func write(_ count: Int, _ schema: ModelSchema) throws {
      let row = RowBuffer(count: schema.fields.count)
      for _ in 0..<count {
        row.set(schema.fields.map(items.value))
        let deletes = items.random.random.oneIn(4)
        func apply(_ transaction: KeyValueTransaction) throws {
          try row.withRow { row in
            if deletes {
              _ = try transaction.delete(try RecordKey(of: row, in: schema), in: schema)
            } else {
              try transaction.save(row, in: schema)
            }
          }
        }
        do {
          try Self.transaction(plain, reference, apply)
        } catch let error as PersistenceError where error.code == .uniqueViolation {
          continue
        }
        try transaction(apply)
      }
    }

    func step() throws -> Bool {
      var isBuilt = false
      try transaction { isBuilt = try $0.buildIndexes(of: second) }
      return isBuilt
    }

    var unbuilt: [IndexSchema] { get throws { try store.unbuiltIndexes(of: second, bytes) } }

    func requireSameIndexes(_ comment: Comment) throws {
      let expected = reference.nodes(.indexes).map { [[UInt8]($0.key), [UInt8]($0.value)] }
      let found = bytes.nodes(.indexes).map { [[UInt8]($0.key), [UInt8]($0.value)] }
      try #require(found == expected, comment)
    }

    /// The indexes of all plans for a condition on each field.
    func planned() throws -> Set<[String]> {
      var fields: Set<[String]> = []
      for field in second.fields {
        let request = try FetchRequest(second, where: .comparison(field: field.name, .equal, .null))
        if case .index(let index) = try store.plan(for: request, bytes).access { fields.insert(index) }
      }
      return fields
    }
  }

  @Test(
    "S9 finished indexes equal those that were built at once, whatever is written between the steps",
    arguments: [(1, 128), (2, 140), (3, 160), (4, 511), (5, 128)] as [(UInt64, Int)])
  func equality(seed: UInt64, longestKey: Int) throws {
    let stores = try Stores(seed: seed, longestKey: longestKey)
    try stores.write(120, stores.first)
    try stores.evolve()
    let waiting = try stores.unbuilt.map(\.fields)
    #expect(waiting.count == stores.second.indexes.count - 2)
    var (steps, writes) = (0, 0)
    while true {
      #expect(try stores.planned().isDisjoint(with: waiting))
      switch stores.items.random.random.int(0...6) {
      case 0: stores.store = KeyValueStore(location: "another", indexBuilding: .small)
      case 1:
        #expect(throws: RolledBack.self) {
          try stores.transaction { transaction in
            _ = try transaction.buildIndexes(of: stores.second)
            throw RolledBack()
          }
        }
      case 2 where writes < 6:
        writes += 1
        try stores.write(8, stores.second)
      case 3:
        try stores.transaction { transaction in
          _ = try transaction.buildIndexes(of: stores.second)
          try? transaction.nested {
            _ = try transaction.buildIndexes(of: stores.second)
            throw RolledBack()
          }
        }
      default: break
      }
      steps += 1
      if try stores.step() { break }
      try #require(steps < 10_000)
    }
    #expect(steps > 1, "the test no longer covers several steps")
    #expect(try stores.unbuilt.isEmpty)
    try stores.requireSameIndexes("after \(steps) steps")
    try stores.write(60, stores.second)
    try stores.requireSameIndexes("after further writes")
    #expect(try stores.step())
  }

  @Test("S9 a finished build leaves no trace in the catalog, and a dropped model none of its build")
  func leftovers() throws {
    for drops in [false, true] {
      let stores = try Stores(seed: 9, longestKey: 128)
      try stores.write(100, stores.first)
      try stores.evolve()
      #expect(try !stores.step())
      func bookmarks() -> Int {
        stores.bytes.nodes(.catalog).count { $0.key.starts(with: Array("build".utf8)) }
      }
      #expect(bookmarks() == 1)
      if drops {
        try stores.transaction { try $0.drop(stores.second) }
        #expect(stores.bytes.nodes(.indexes).isEmpty)
      } else {
        while try !stores.step() {}
      }
      #expect(bookmarks() == 0)
    }
  }
}
