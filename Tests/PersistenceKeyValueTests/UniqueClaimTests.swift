import Foundation
import PersistenceDriver
import PersistenceKeyValue
import Testing

/// An index build detects two records with the same unique values, whatever their length and the length of
/// stored keys.
@Suite("Unique violations in index builds")
struct UniqueClaimTests {
  private static let longestKey = 128

  private static func schema() throws -> ModelSchema {
    try ModelSchema(
      name: "Claim",
      fields: [
        FieldSchema("id", .string), FieldSchema("u", .string, isOptional: true),
        FieldSchema("n", .int64, isOptional: true),
      ], key: ["id"],
      indexes: [
        IndexSchema(["n"]), IndexSchema(["u"], isUnique: true), IndexSchema(["n", "u"], isUnique: true),
      ])
  }

  private struct Claim {
    let (id, text, number): (String, String?, Int64?)
    init(_ id: String, _ text: String?, _ number: Int64?) {
      (self.id, self.text, self.number) = (id, text, number)
    }
  }

  /// The outcome of a build.
  private func build(_ claims: [Claim]) throws -> (PersistenceError?, entries: Int) {
    let schema = try Self.schema()
    let bytes = ArrayByteStore(longestKey: Self.longestKey)
    let store = KeyValueStore(location: "claims", indexBuilding: .small)
    let row = RowBuffer(count: 3)
    let transaction = KeyValueTransaction(store, bytes)
    try transaction.defineDeferringIndexes(schema)
    for claim in claims {
      row.set([
        .text(claim.id), claim.text.map { .text($0) } ?? .null, claim.number.map { .integer($0) } ?? .null,
      ])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
    do {
      while try !transaction.buildIndexes(of: schema) {}
      return (nil, bytes.nodes(.indexes).count)
    } catch let error as PersistenceError {
      return (error, bytes.nodes(.indexes).count)
    }
  }

  @Test("W4 two records with the same value are detected, with cut keys and without", arguments: 0...130)
  func lengths(length: Int) throws {
    let value = String(repeating: "v", count: length)
    for (short, long) in [
      ("1", "2"), ("1", String(repeating: "2", count: 90)), ("1", String(repeating: "2", count: 40)),
      (String(repeating: "1", count: 90), String(repeating: "2", count: 90)),
    ] {
      // Other values differ only in their ends.
      let others = (0..<12).map { number in
        Claim("o\(number)", value + "\0" + String(repeating: "w", count: 5 * number + 1), nil)
      }
      let apart = (0..<12).map { number in
        Claim("p\(number)", value + String(repeating: "w", count: 5 * number + 1), nil)
      }
      let (none, count) = try build([Claim(short, value, 1)] + others + apart)
      #expect(none == nil && count == 25 * 3)
      let (error, entries) = try build(
        [Claim(short, value, 1), Claim(long, value, 2)] + others + apart)
      #expect(error?.code == .uniqueViolation && error?.model == "Claim", "\(length) with \(long.count)")
      #expect(error.map { $0.key == RecordKey([.text(short)]) || $0.key == RecordKey([.text(long)]) } == true)
      #expect(error?.message.contains("u") == true)
      #expect(entries == 0, "something was built")
    }
  }

  @Test("W4 nil values are never a violation, alone or in a compound index")
  func nulls() throws {
    let rows = (0..<40).map { Claim("\($0)", nil, $0 % 2 == 0 ? nil : 1) }
    #expect(try build(rows).0 == nil)
    let sames = (0..<3).map { Claim("\($0)", "u\($0)", 1) }
    #expect(try build(sames).0 == nil)
    #expect(try build(sames + [Claim("9", "u1", nil)]).0?.code == .uniqueViolation)
  }
}
