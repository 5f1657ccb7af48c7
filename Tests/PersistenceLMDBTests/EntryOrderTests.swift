import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("Buffered index entries, and the format of stores")
struct EntryOrderTests {
  private static let order = [FieldOrder("text")]

  @Test("W3 a transaction and its nested ones see buffered entries, which roll back with it")
  func keptBack() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"])])
    let context = try scratch.open()
    var random = SeededGenerator(seed: 41)
    let names = (0..<500).map { String(format: "%03d", $0) }
    let (first, second) = (
      names.prefix(300).shuffled(using: &random), names.suffix(200).shuffled(using: &random)
    )
    struct Refused: Error {}
    let row = RowBuffer(count: 2)
    func add(_ names: [String], to transaction: any StorageTransaction) throws {
      for name in names {
        row.set([.text("key \(name)"), .text(name)])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    func found(_ reader: any StorageReader) throws -> [String] {
      try reader.fetch(FetchRequest(schema, order: Self.order)).keys(pages: 64)
    }
    let wanted = names.map { "key \($0)" }
    try context.transaction { transaction in
      try transaction.define(schema)
      try add(first, to: transaction)
      #expect(try found(transaction) == Array(wanted.prefix(300)))
      #expect(throws: Refused.self) {
        try transaction.nested {
          try add(second, to: transaction)
          throw Refused()
        }
      }
      #expect(try found(transaction) == Array(wanted.prefix(300)))
      try transaction.nested { try add(second, to: transaction) }
    }
    #expect(try found(context) == wanted)
    #expect(
      try context.count(FetchRequest(schema, where: .comparison(field: "text", .less, .text("250")))) == 250)
  }

  @Test("E5 a store of an older format is rejected by its format number, and unchanged")
  func olderFormat() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save([("a", "b")], schema)
    try context.close()
    var data = try Data(contentsOf: scratch.data)
    while let place = data.range(of: Data("persistence records 2".utf8)) {
      data[place.upperBound - 1] = UInt8(ascii: "1")
    }
    try data.write(to: scratch.data)
    let error = expectError(.notAStore) { try scratch.open() }
    #expect(error?.description.contains("an older version") == true)
    #expect(try Data(contentsOf: scratch.data) == data)
  }
}
