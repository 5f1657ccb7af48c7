import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceKeyValue
import Testing

extension IndexBuilding {
  /// A memory limit that splits a few records into several runs and transactions.
  static var small: IndexBuilding {
    IndexBuilding(memory: 1500, folder: FileManager.default.temporaryDirectory.path)
  }
}

/// Indexes built over existing records equal, byte for byte, those written with the records.
///
/// The store's keys are so short that many are cut.
@Suite("Index builds")
struct IndexBuildTests {
  struct RolledBack: Error {}

  /// Two stores with the same records: one writes its indexes with them, the other builds them later.
  private final class Stores {
    let items: RandomItems
    let longestKey: Int
    let (reference, bytes): (ArrayByteStore, ArrayByteStore)
    private let plain = KeyValueStore(location: "plain", indexBuilding: .small)
    /// Replaced to simulate another process.
    var store = KeyValueStore(location: "deferred", indexBuilding: .small)

    init(seed: UInt64, longestKey: Int) throws {
      items = try RandomItems(seed: seed)
      self.longestKey = longestKey
      (reference, bytes) = (ArrayByteStore(longestKey: longestKey), ArrayByteStore(longestKey: longestKey))
      try transaction(plain, reference) { try $0.define(items.schema) }
      try transaction { try $0.defineDeferringIndexes(items.schema) }
    }

    func transaction(_ body: (KeyValueTransaction) throws -> Void) throws {
      try transaction(store, bytes, body)
    }

    private func transaction(
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

    /// Writes random records to both stores; skips those that the indexes reject.
    func write(_ count: Int) throws {
      let row = RowBuffer(count: items.schema.fields.count)
      for _ in 0..<count {
        row.set(items.schema.fields.map(items.value))
        let deletes = items.random.random.oneIn(5)
        func apply(_ transaction: KeyValueTransaction) throws {
          try row.withRow { row in
            if deletes {
              _ = try transaction.delete(try RecordKey(of: row, in: items.schema), in: items.schema)
            } else {
              try transaction.save(row, in: items.schema)
            }
          }
        }
        do {
          try transaction(plain, reference, apply)
        } catch let error as PersistenceError where error.code == .uniqueViolation {
          continue
        }
        try transaction(apply)
      }
    }

    /// Runs one step of the build; returns whether it was the last.
    func step() throws -> Bool {
      var isBuilt = false
      try transaction { isBuilt = try $0.buildIndexes(of: items.schema) }
      return isBuilt
    }

    func requireSameIndexes(_ comment: Comment) throws {
      let expected = reference.nodes(.indexes).map { [[UInt8]($0.key), [UInt8]($0.value)] }
      let found = bytes.nodes(.indexes).map { [[UInt8]($0.key), [UInt8]($0.value)] }
      try #require(found == expected, comment)
    }

    /// Whether a query uses the indexes.
    func usesIndexes() throws -> Bool {
      let request = try FetchRequest(items.schema, order: [FieldOrder("id")], limit: 1)
      return try store.plan(for: request, bytes).ordering != .sorted
    }
  }

  @Test(
    "W3 built indexes equal those written with the records",
    arguments: [(1, 128), (2, 128), (3, 160), (4, 511)] as [(UInt64, Int)])
  func equality(seed: UInt64, longestKey: Int) throws {
    let stores = try Stores(seed: seed, longestKey: longestKey)
    try stores.write(150)
    #expect(stores.bytes.nodes(.indexes).isEmpty)
    #expect(try !stores.usesIndexes())
    var steps = 1
    while try !stores.step() {
      steps += 1
      #expect(try !stores.usesIndexes())
    }
    #expect(steps > 5, "the test no longer covers several steps")
    try stores.requireSameIndexes("after \(steps) steps")
    #expect(try stores.usesIndexes())
    // After the build, the records' writes maintain the indexes.
    try stores.write(100)
    try stores.requireSameIndexes("after further writes")
    #expect(try stores.step())
    try stores.requireSameIndexes("built twice")
  }

  @Test(
    "W3 W5 a build survives rollbacks, other processes and writes between its steps", arguments: 5..<15)
  func interruptions(seed: UInt64) throws {
    let stores = try Stores(seed: seed, longestKey: 140)
    try stores.write(120)
    var (steps, writes) = (0, 0)
    while true {
      switch stores.items.random.random.int(0...7) {
      case 0: stores.store = KeyValueStore(location: "another", indexBuilding: .small)
      case 1:
        #expect(throws: RolledBack.self) {
          try stores.transaction { transaction in
            _ = try transaction.buildIndexes(of: stores.items.schema)
            throw RolledBack()
          }
        }
      case 2:
        // A nested step that rolls back after its transaction has built entries.
        try stores.transaction { transaction in
          _ = try transaction.buildIndexes(of: stores.items.schema)
          try? transaction.nested {
            _ = try transaction.buildIndexes(of: stores.items.schema)
            throw RolledBack()
          }
        }
      case 3 where writes < 4:
        writes += 1
        try stores.write(3)
      default: break
      }
      steps += 1
      if try stores.step() { break }
    }
    try stores.requireSameIndexes("after \(steps) steps")
    try stores.write(30)
    try stores.requireSameIndexes("after further writes")
  }

  @Test("W3 an empty model builds its indexes at once, and a dropped model leaves no entries")
  func edges() throws {
    let stores = try Stores(seed: 1, longestKey: 128)
    #expect(try stores.step())
    #expect(try stores.usesIndexes())
    try stores.write(40)
    try stores.requireSameIndexes("written after building")

    let dropped = try Stores(seed: 2, longestKey: 128)
    try dropped.write(120)
    #expect(try !dropped.step())
    try dropped.transaction { try $0.drop(dropped.items.schema) }
    #expect(dropped.bytes.nodes(.indexes).isEmpty && dropped.bytes.nodes(.records).isEmpty)
    try dropped.transaction { try $0.define(dropped.items.schema) }
    #expect(try dropped.usesIndexes() && dropped.step())
  }
}
