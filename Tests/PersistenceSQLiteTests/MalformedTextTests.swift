import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceSQLite
import Testing

/// Malformed UTF-8 that other programs wrote, which is never repaired silently (R4).
@Suite struct MalformedTextTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func open(_ statements: [String], survey: Bool = false) throws -> SQLiteContext {
    try scratch.makeForeign("foreign.sqlite", statements)
    return try scratch.open("foreign.sqlite") { $0.surveysForeignTables = survey }
  }

  private func damage(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch {
      let error = error as? PersistenceError
      return error?.code == .damaged ? error : nil
    }
  }

  @Test("valid and malformed UTF-8, at every edge of its definition and around blocks of eight bytes")
  func edges() throws {
    let valid: [[UInt8]] = [
      [], [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
      [0xEF, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0x00],
    ]
    let invalid: [[UInt8]] = [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x9F, 0xBF], [0xE1, 0x80],
      [0xED, 0xA0, 0x80], [0xEF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE1, 0x80, 0x41], [0xF1, 0x80, 0x41, 0x80],
    ]
    let context = try open(["CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"])
    let schema = try #require(try context.catalog().first)
    var texts: [[UInt8]] = []
    for (isValid, samples) in [(true, valid), (false, invalid)] {
      for sample in samples {
        for before in [0, 3, 7, 8, 16] {
          for after in [0, 1, 8] {
            texts.append(
              Array(repeating: 0x61, count: before) + sample + Array(repeating: 0x62, count: after))
            let hex = texts[texts.count - 1].map { String(format: "%02x", $0) }.joined()
            try context.execute("DELETE FROM t")
            try context.execute("INSERT INTO t VALUES (1, CAST(x'\(hex)' AS TEXT))")
            let found = try? context.values(of: .integer(1), in: schema)
            let expected = String(validating: texts[texts.count - 1], as: UTF8.self)
            #expect((expected != nil) == isValid)
            #expect((found?[1] == expected.map(PersistentValue.text)) && (found != nil) == isValid, "\(hex)")
          }
        }
      }
    }
  }

  @Test(
    "a malformed key throws damaged, and no other key replaces it",
    arguments: [false, true])
  func keys(_ isReversed: Bool) throws {
    let context = try open(
      ["CREATE TABLE t (id TEXT PRIMARY KEY, n INTEGER)"]
        + (0..<600).map { "INSERT INTO t VALUES ('\($0)', \($0))" }
        + ["INSERT INTO t VALUES (CAST(x'636166E9' AS TEXT), -1)"])
    let schema = try #require(try context.catalog().first)
    let order = [FieldOrder("id", isDescending: isReversed)]
    let error = try #require(damage { _ = try context.values(FetchRequest(schema, order: order)) })
    #expect(error.message.contains("not valid UTF-8") && error.model == "t" && error.field == "id")
    #expect(
      damage {
        _ = try context.fetch(FetchRequest(schema, order: order), selecting: [0]).read(from: 0, limit: 999) {
          _ in
        }
      } != nil)
    // The other records stay readable: their keys precede it.
    let others = try FetchRequest(schema, where: .comparison(field: "id", .less, .text("c")), order: order)
    #expect(try context.values(others).count == 600)
    #expect(try context.values(of: .text("caf\u{FFFD}"), in: schema) == nil)
  }

  @Test("writing a record never replaces malformed text")
  func writing() throws {
    let context = try open([
      "CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, n INTEGER NOT NULL)",
      "INSERT INTO Note VALUES (1, CAST(x'E4F6' AS TEXT), 1), (2, 'é', 2)",
    ])
    let repository = Repository(context)
    #expect(
      damage { _ = try repository.write(ForeignNote.self, id: 1) { $0.n = 5 } }?.key
        == RecordKey([.integer(1)]))
    #expect(try repository.write(ForeignNote.self, id: 2) { $0.n = 5 }.text == "é")
    #expect(damage { _ = try Array(repository.filter(ForeignNote.self).select(\.text)) } != nil)
    #expect(try repository.filter(ForeignNote.self).select(\.n).map { $0 } == [1, 5])
    #expect(try context.rows("SELECT hex(text) FROM Note ORDER BY id") == [[.text("E4F6")], [.text("C3A9")]])
    #expect(try repository.delete(ForeignNote.self, id: 1))
  }

  @Test("aggregates are the same with and without a survey", arguments: [false, true])
  func aggregates(_ survey: Bool) throws {
    let context = try open(
      [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, mixed)",
        "INSERT INTO t VALUES (1, 'b', 1), (2, 'a', 2), (3, NULL, 3), (4, CAST(x'FF' AS TEXT), 'x')",
      ], survey: survey)
    let schema = try #require(try context.catalog().first)
    for limit in [3, 2] {
      let rows = try FetchRequest(schema, limit: limit)
      let aggregates: [Aggregate] = [.minimum(of: "name"), .maximum(of: "name"), .count]
      let found = try context.aggregate(AggregateRequest(rows, aggregates: aggregates))
      #expect(found.map(\.values) == [[.text("a"), .text("b"), .integer(Int64(limit))]])
      let groups = try context.aggregate(AggregateRequest(rows, grouping: ["name"], aggregates: [.count]))
      #expect(groups.map(\.key) == Array([[.null], [.text("a")], [.text("b")]].suffix(limit)))
    }
    let all = try AggregateRequest(FetchRequest(schema, limit: 4), aggregates: [.maximum(of: "name")])
    #expect(damage { _ = try context.aggregate(all) } != nil)
  }

  /// `1e-9223372036854775808` is Int.min as an exponent.
  @Test("a decimal's text with an extreme exponent throws damaged, and does not crash")
  func exponents() throws {
    let texts = ["1e-9223372036854775808", "1e9223372036854775807", "1e10000", "1e-10000", "1e", "1e+", "-"]
    for (number, text) in texts.enumerated() {
      let context = try scratch.open("d\(number).sqlite")
      let schema = try ModelSchema(
        name: "D", fields: [FieldSchema("id", .int64), FieldSchema("d", .decimal)], key: ["id"])
      try context.fill(schema, [[.integer(1), .decimal(5)]])
      try context.execute("UPDATE D SET d = '\(text)'")
      let request = try FetchRequest(schema, where: .comparison(field: "d", .less, .decimal(7)))
      #expect(damage { _ = try context.values(request) } != nil, "\(text)")
      #expect(
        damage { _ = try context.values(FetchRequest(schema, order: [FieldOrder("d")])) } != nil, "\(text)")
    }
  }
}

/// A record of a foreign table.
private struct ForeignNote: PersistentRecord {
  var id: Int
  var text: String
  var n: Int

  static let schema = RecordSchema<ForeignNote>(
    "Note", fields: [.field("id", \.id), .field("text", \.text), .field("n", \.n)], key: [\.id])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
    n = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(text, at: 1)
    row.encode(n, at: 2)
  }
}
