import Foundation
import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

extension IndexBuilding {
  /// So little memory that a few records take several runs and transactions.
  static var small: IndexBuilding {
    IndexBuilding(memory: 1500, folder: FileManager.default.temporaryDirectory.path)
  }
}

/// Indexes that are built over records that are there are, byte for byte, those that are written with the records.
///
/// The store's keys are so short that many are cut.
@Suite("Indexes built last")
struct IndexBuildTests {
  struct Undone: Error {}

  /// Two stores that are given the same records: one with its indexes, one whose indexes are to be built.
  private final class Stores {
    let items: RandomItems
    let longestKey: Int
    let (reference, bytes): (ArrayByteStore, ArrayByteStore)
    private let plain = KeyValueStore(location: "plain", indexBuilding: .small)
    /// Replaced where another process goes on.
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

    /// Random writes to both; what the indexes refuse does not reach the other.
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

    /// One part of building; says whether it was the last.
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

    /// The plans for an order that an index has.
    func usesIndexes() throws -> Bool {
      let request = try FetchRequest(items.schema, order: [FieldOrder("id")], limit: 1)
      return try store.plan(for: request, bytes).ordering != .sorted
    }
  }

  @Test(
    "W3 they are those that are written with the records",
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
    #expect(steps > 5, "the test has lost its point")
    try stores.requireSameIndexes("after \(steps) steps")
    #expect(try stores.usesIndexes())
    // From now on they are written with the records.
    try stores.write(100)
    try stores.requireSameIndexes("after further writes")
    #expect(try stores.step())
    try stores.requireSameIndexes("built twice")
  }

  @Test(
    "W3 W5 whatever happens between two parts: a part undone, another process, a write", arguments: 5..<15)
  func interruptions(seed: UInt64) throws {
    let stores = try Stores(seed: seed, longestKey: 140)
    try stores.write(120)
    var (steps, writes) = (0, 0)
    while true {
      switch stores.items.random.random.int(0...7) {
      case 0: stores.store = KeyValueStore(location: "another", indexBuilding: .small)
      case 1:
        #expect(throws: Undone.self) {
          try stores.transaction { transaction in
            _ = try transaction.buildIndexes(of: stores.items.schema)
            throw Undone()
          }
        }
      case 2:
        // One that sees what was built in its own transaction, and takes it back.
        try stores.transaction { transaction in
          _ = try transaction.buildIndexes(of: stores.items.schema)
          try? transaction.nested {
            _ = try transaction.buildIndexes(of: stores.items.schema)
            throw Undone()
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

  @Test("W3 a model without records has its indexes at once, and one that is dropped leaves nothing")
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
