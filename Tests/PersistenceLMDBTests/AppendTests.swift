import PersistenceConformance
import PersistenceDriver
import PersistenceLMDB
import Testing

/// Records with growing keys are appended by a cursor, which other changes of the same transaction must not mislead.
@Suite("Appended records")
struct AppendTests {
  private struct RolledBack: Error {}

  @Test(
    "W3 appended records and other changes of the same transaction keep the order of keys", arguments: 0..<4)
  func mixed(seed: Int) throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    var run = Run(schema: schema, random: SeededGenerator(seed: UInt64(seed)))
    for _ in 0..<4 {
      try context.transaction { transaction in
        try transaction.define(schema)
        for _ in 0..<100 { try run.step(transaction) }
        let (found, wanted) = (try transaction.fetch(FetchRequest(schema)).keys(pages: 500), run.keys)
        #expect(found == wanted)
      }
      let wanted = run.keys
      #expect(try context.keys(FetchRequest(schema)) == wanted)
    }
    for (key, text) in run.texts { #expect(try context.text(key, schema) == .text(text)) }
    var findings: [StoreFinding] = []
    try context.verify { findings.append($0) }
    #expect(findings == [])
  }

  /// Random changes, and the records that are stored after them.
  private struct Run {
    let schema: ModelSchema
    var random: SeededGenerator
    var texts: [String: String] = [:]
    private var next = 1_000_000
    private let row = RowBuffer(count: 2)

    init(schema: ModelSchema, random: SeededGenerator) {
      self.schema = schema
      self.random = random
    }

    var keys: [String] { texts.keys.sorted { TotalOrder.compare($0, $1) < 0 } }

    mutating func step(_ transaction: any StorageTransaction) throws {
      let sorted = keys
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        let number = Int.random(in: 0..<1_000_000, using: &random)
        try save("a \(number)", transaction)
      case 1: if let key = sorted.first { try save(key, transaction) }
      case 2: if let key = sorted.last { try save(key, transaction) }
      case 3: if let key = sorted.randomElement(using: &random) { try save(key, transaction) }
      case 4: if let key = sorted.last { try delete(key, transaction) }
      case 5: if let key = sorted.randomElement(using: &random) { try delete(key, transaction) }
      case 6: try nest(transaction)
      default: try append(transaction)
      }
    }

    private mutating func delete(_ key: String, _ transaction: any StorageTransaction) throws {
      let isDeleted = try transaction.delete(RecordKey([.text(key)]), in: schema)
      #expect(isDeleted)
      texts[key] = nil
    }

    private mutating func append(_ transaction: any StorageTransaction) throws {
      for _ in 0..<Int.random(in: 1..<6, using: &random) {
        next += 1
        try save("key \(next)", transaction)
      }
    }

    private mutating func nest(_ transaction: any StorageTransaction) throws {
      let (before, isKept) = (texts, Bool.random(using: &random))
      do {
        try transaction.nested {
          try append(transaction)
          if !isKept { throw RolledBack() }
        }
      } catch is RolledBack {
        texts = before
      }
    }

    private mutating func save(_ key: String, _ transaction: any StorageTransaction) throws {
      let text = String(repeating: "x", count: Int.random(in: 0..<900, using: &random))
      row.set([.text(key), .text(text)])
      try row.withRow { try transaction.save($0, in: schema) }
      texts[key] = text
    }
  }
}
