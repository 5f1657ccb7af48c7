import PersistenceConformance
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("Keys longer than LMDB's 511 bytes, and empty ones")
struct LongKeyTests {
  /// Lengths around every limit at which keys are cut, and far beyond.
  private static let lengths =
    [0, 1, 2, 255] + Array(440...450) + Array(474...484) + Array(500...515) + [1000, 1001, 5000, 70_000]

  @Test("E6 O2 keys of any length are found, ordered and deleted")
  func primaryKeys() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    // Three keys of each length that differ in the last byte only, so their cut forms share the same
    // beginning.
    let ids = Self.lengths.flatMap { length in
      length == 0 ? [""] : ["a", "b", "\0"].map { String(repeating: "k", count: length - 1) + $0 }
    }
    var random = SeededGenerator(seed: 21)
    try context.save(ids.shuffled(using: &random).map { ($0, "text of \($0.utf8.count)") }, schema)
    #expect(try context.count(FetchRequest(schema)) == ids.count)
    let sorted = ids.sorted { TotalOrder.compare($0, $1) < 0 }
    #expect(try context.keys(FetchRequest(schema)) == sorted)
    let backwards = try FetchRequest(schema, order: [FieldOrder("id", isDescending: true)])
    #expect(try context.keys(backwards) == sorted.reversed())
    for id in ids { #expect(try context.text(id, schema) == .text("text of \(id.utf8.count)")) }
    #expect(try context.text(String(repeating: "k", count: 999) + "c", schema) == nil)
    // Pages that begin at any key, also within a run of cut keys.
    for (index, id) in sorted.enumerated() {
      let page = try FetchRequest(schema, limit: 4, after: PageAnchor([.text(id)]))
      #expect(try context.keys(page) == Array(sorted.dropFirst(index + 1).prefix(4)))
    }
    try context.transaction { transaction in
      for id in sorted.dropFirst(3) {
        let deleted = try (0..<2).map { _ in try transaction.delete(RecordKey([.text(id)]), in: schema) }
        #expect(deleted == [true, false])
      }
    }
    #expect(try context.keys(FetchRequest(schema)) == Array(sorted.prefix(3)))
  }

  @Test(
    "O1 O2 records with some long values come in the order of the values, and those with equal ones by their keys",
    arguments: [false, true])
  func listedValues(isDescending: Bool) throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"])])
    let context = try scratch.open()
    // Values that are cut at the same bytes, of which the longer ones are greater.
    let texts = Self.lengths.map { String(repeating: "t", count: $0) }
    let notes = texts.enumerated().flatMap { number, text in ["", "a", "b"].map { ("\(number)\($0)", text) } }
    var random = SeededGenerator(seed: 22)
    try context.save(notes.shuffled(using: &random), schema)
    let order = [FieldOrder("text", isDescending: isDescending)]
    for _ in 0..<20 {
      let listed = Array(texts.shuffled(using: &random).prefix(Int.random(in: 2...12, using: &random)))
      let request = try FetchRequest(
        schema, where: .isIn(field: "text", listed.map { .text($0) }), order: order)
      let found = try context.keys(request)
      let chosen = try FetchRequest(schema, order: order)
      let all = try context.keys(chosen)
      let expected = all.filter { key in notes.contains { $0.0 == key && listed.contains($0.1) } }
      #expect(found == expected)
      #expect(try context.count(request) == expected.count)
    }
    let ascending = notes.sorted { ($0.1.utf8.count, $0.0) < ($1.1.utf8.count, $1.0) }.map(\.0)
    #expect(
      try context.keys(FetchRequest(schema, order: [FieldOrder("text")])) == ascending)
  }

  @Test("W4 V3 long values are indexed, distinguished and unique")
  func indexedValues() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"], isUnique: true)])
    let context = try scratch.open()
    let texts = Self.lengths.flatMap { length in
      length == 0 ? [""] : ["a", "b"].map { String(repeating: "t", count: length - 1) + $0 }
    }
    let notes = texts.enumerated().map { ("\($0)" + String(repeating: "i", count: $0 * 20), $1) }
    try context.save(notes.map { ($0, $1) }, schema)
    for (id, text) in notes {
      let request = try FetchRequest(schema, where: .comparison(field: "text", .equal, .text(text)))
      #expect(try context.keys(request) == [id])
      #expect(try context.count(request) == 1)
      let error = expectError(.uniqueViolation) { try context.save([("other", text)], schema) }
      #expect(error?.field == "text")
      #expect(error?.model == "Note")
      // Saving the same record again is no violation.
      try context.save([(id, text)], schema)
    }
    let byText = try FetchRequest(schema, order: [FieldOrder("text")])
    let sorted = notes.sorted { TotalOrder.compare($0.1, $1.1) < 0 }.map(\.0)
    #expect(try context.keys(byText) == sorted)
    let plan = try context.plan(for: byText)
    #expect(plan.access == .index(["text"]))
    #expect(plan.ordering == .byAccess)
    // Every record takes the next one's value: every entry is replaced.
    try context.transaction { try _ = $0.deleteAll(in: schema) }
    try context.save(notes.map { ($0, $1 + "x") }, schema)
    let moved = notes.sorted { TotalOrder.compare($0.1 + "x", $1.1 + "x") < 0 }.map(\.0)
    #expect(try context.keys(byText) == moved)
    #expect(try context.count(FetchRequest(schema)) == notes.count)
  }

  @Test("S1 E6 records keep their keys of any length when changes of schema copy them")
  func copiedRecords() throws {
    let scratch = try Scratch()
    var schema = try Scratch.schema(indexes: [IndexSchema(["text"], isUnique: true)])
    var context = try scratch.open()
    let ids = Self.lengths.flatMap { length -> [String] in
      length == 0 ? [""] : ["a", "b", "\0"].map { String(repeating: "k", count: length - 1) + $0 }
    }
    let notes = ids.map { id -> (id: String, text: String) in
      (id, String(repeating: "t", count: id.utf8.count) + "of \(id)")
    }
    try context.save(notes.map { ($0.id, $0.text) }, schema)
    for version in 1...3 {
      let target = try ModelSchema(
        name: schema.name, fields: schema.fields + [FieldSchema("length\(version)", .int64)], key: ["id"],
        indexes: schema.indexes)
      let sources = schema.fields.indices.map { SchemaChange.Source.field($0) } + [.computed]
      let change = try SchemaChange(from: schema, to: target, sources: sources) { row, computed in
        guard case .text(let id) = try row.value(at: 0) else { return }
        computed.set(.integer(Int64(id.utf8.count)), at: 0)
      }
      try context.transaction { try $0.evolve(change) }
      schema = target
      if version == 2 {
        try context.close()
        context = try scratch.open()
      }
      let sorted = notes.map(\.id).sorted { TotalOrder.compare($0, $1) < 0 }
      #expect(try context.keys(FetchRequest(schema)) == sorted)
      for (id, text) in notes {
        #expect(try context.text(id, schema) == .text(text))
        let request = try FetchRequest(schema, where: .comparison(field: "text", .equal, .text(text)))
        #expect(try context.keys(request) == [id])
      }
      let byText = try FetchRequest(schema, order: [FieldOrder("text")])
      let order = notes.sorted { TotalOrder.compare($0.text, $1.text) < 0 }.map(\.id)
      #expect(try context.keys(byText) == order)
      let row = RowBuffer(count: schema.fields.count)
      let added = [PersistentValue](repeating: .integer(7), count: version)
      try context.transaction { transaction in
        for (id, text) in notes {
          row.set([.text("other"), .text(text)] + added)
          row.withRow { row in
            let error = #expect(throws: PersistenceError.self) { try transaction.insert(row, in: schema) }
            #expect(error?.code == .uniqueViolation)
          }
          // The same record is no violation of itself.
          row.set([.text(id), .text(text)] + added)
          try row.withRow { try transaction.update($0, in: schema) }
        }
      }
      #expect(try context.count(FetchRequest(schema)) == notes.count)
    }
    try context.transaction { transaction in
      for (id, _) in notes {
        let isDeleted = try transaction.delete(RecordKey([.text(id)]), in: schema)
        #expect(isDeleted)
      }
    }
    #expect(try context.keys(FetchRequest(schema)).isEmpty)
    try context.verify { Issue.record("\($0)") }
  }

  @Test("W4 values that exactly fill a cut key are unique, whatever the digests beside them")
  func uniqueAtTheCut() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema(indexes: [IndexSchema(["text"], isUnique: true)])
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    // Enough values that digests begin with any byte.
    let texts = (436...448).flatMap { length in
      (0..<600).map { number in
        let start = "\(number) "
        return start + String(repeating: "t", count: length - start.utf8.count)
      }
    }
    let long = String(repeating: "i", count: 80)
    // Longer texts with the same beginning come first.
    try context.save(texts.map { ("longer " + $0, $0 + "\0x") }, schema)
    try context.save(texts.map { (long + $0, $0) }, schema)
    try context.transaction { transaction in
      let row = RowBuffer(count: 2)
      for text in texts {
        row.set([.text("other"), .text(text)])
        expectError(.uniqueViolation) { try row.withRow { try transaction.insert($0, in: schema) } }
      }
    }
    #expect(try context.count(FetchRequest(schema)) == 2 * texts.count)
  }

  @Test(
    "W4 unique values can change among existing records with other indexed values", .timeLimit(.minutes(15)))
  func changingUniqueValues() throws {
    let scratch = try Scratch()
    let schema = try ModelSchema(
      name: "Pair",
      fields: [FieldSchema("id", .int64), FieldSchema("code", .int64), FieldSchema("text", .string)],
      key: ["id"],
      indexes: [IndexSchema(["code"], isUnique: true), IndexSchema(["text"])])
    let context = try scratch.open(LMDBConfiguration(synchronization: .off))
    let row = RowBuffer(count: 3)
    for round in 0..<3 {
      try context.transaction { transaction in
        try transaction.define(schema)
        for id in 0..<5_000 {
          row.set([
            .integer(Int64(id)), .integer(Int64(round * 10_000 + id)), .text("\(id % 50) of round \(round)"),
          ])
          try row.withRow { try transaction.save($0, in: schema) }
        }
      }
    }
    let request = try FetchRequest(
      schema, where: .comparison(field: "text", .equal, .text("7 of round 2")))
    #expect(try context.count(request) == 100)
    let old = try FetchRequest(
      schema, where: .text(field: "text", .hasPrefix, "7 of round 1", isCaseInsensitive: false))
    #expect(try context.count(old) == 0)
  }

  @Test("two long lists of values of one field are intersected quickly", .timeLimit(.minutes(15)))
  func longLists() throws {
    let scratch = try Scratch()
    let schema = try Scratch.schema()
    let context = try scratch.open()
    try context.save((0..<10).map { ("\($0)", nil) }, schema)
    func list(_ numbers: Range<Int>) -> PredicateNode {
      .isIn(field: "id", numbers.map { .text("\($0)") })
    }
    let request = try FetchRequest(schema, where: .all([list(0..<200_000), list(5..<200_005)]))
    #expect(try context.keys(request) == ["5", "6", "7", "8", "9"])
  }
}
