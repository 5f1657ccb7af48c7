import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing
import PersistenceDriverSupport

/// Transactions, rejected writes, and other writers.
@Suite struct WriteTests {
  let scratch: Scratch
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    schema = try ModelSchema(
      name: "User",
      fields: [
        FieldSchema("id", .string), FieldSchema("mail", .string, isOptional: true), FieldSchema("a", .int64),
        FieldSchema("b", .double, isOptional: true),
      ], key: ["id"],
      indexes: [IndexSchema(["mail"], isUnique: true), IndexSchema(["a", "b"], isUnique: true)])
  }

  private func row(_ id: String, _ mail: String?, _ a: Int64, _ b: Double?) -> [PersistentValue] {
    [.text(id), mail.map { .text($0) } ?? .null, .integer(a), b.map { .double($0) } ?? .null]
  }

  @Test("W1 W4 a rejected write names model, field, value and key, and only that write is rolled back")
  func rejections() throws {
    let context = try scratch.open()
    try context.fill(schema, [row("x", "x@", 1, .nan), row("y", nil, 2, nil)])
    try context.transaction { transaction in
      try transaction.define(schema)
      #expect(code { try transaction.insert(row("x", "new", 9, 9), in: schema) } == .duplicateKey)
      // Both the key and a unique value are duplicates: the error names the key.
      #expect(code { try transaction.insert(row("x", "x@", 1, .nan), in: schema) } == .duplicateKey)
      #expect(code { try transaction.update(row("z", nil, 3, nil), in: schema) } == .notFound)
      do {
        try transaction.insert(row("z", "x@", 3, nil), in: schema)
        Issue.record("a duplicate value was accepted")
      } catch let error as PersistenceError {
        #expect(error.code == .uniqueViolation)
        #expect(error.model == "User")
        #expect(error.field == "mail")
        #expect(error.key == RecordKey([.text("z")]))
        #expect(error.message.contains("'x@'"))
      }
      // NaN collides, nil does not.
      #expect(code { try transaction.save(row("y", nil, 1, .nan), in: schema) } == .uniqueViolation)
      #expect(code { try transaction.update(row("y", "x@", 2, nil), in: schema) } == .uniqueViolation)
      try transaction.insert(row("w", nil, 2, nil), in: schema)
      try transaction.save(row("x", "x@", 1, .nan), in: schema)
      #expect(try transaction.count(FetchRequest(schema)) == 3)
    }
    #expect(
      try context.values(FetchRequest(schema)) == [
        row("w", nil, 2, nil), row("x", "x@", 1, .nan), row("y", nil, 2, nil),
      ])
  }

  @Test("values that are not of their declared kind are rejected before writing")
  func kinds() throws {
    let context = try scratch.open()
    try context.fill(schema, [])
    #expect(code { try context.fill(schema, [[.null, .null, .integer(1), .null]]) } == .invalidRequest)
    #expect(code { try context.fill(schema, [[.text("a"), .null, .null, .null]]) } == .invalidRequest)
    #expect(code { try context.fill(schema, [[.text("a"), .null, .text("1"), .null]]) } == .invalidRequest)
    #expect(try context.count(FetchRequest(schema)) == 0)
  }

  private struct Stop: Error {}

  /// Whether a closure throws ``Stop``.
  private func stops(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      return error is Stop
    }
  }

  @Test("W3 transactions and nested transactions are atomic, including definitions")
  func nesting() throws {
    let context = try scratch.open()
    let isRolledBack = stops {
      try context.transaction { transaction in
        try transaction.define(schema)
        try transaction.insert(row("a", nil, 1, nil), in: schema)
        throw Stop()
      }
    }
    #expect(isRolledBack)
    #expect(try context.catalog().isEmpty)
    #expect(try context.count(FetchRequest(schema)) == 0)
    let other = try Fixtures.movies()
    try context.transaction { transaction in
      try transaction.define(schema)
      try transaction.insert(row("a", nil, 1, nil), in: schema)
      var inside = 0
      let isRolledBack = stops {
        try transaction.nested {
          try transaction.define(other)
          try transaction.insert(row("b", nil, 1, nil), in: schema)
          try transaction.nested { try transaction.insert(row("c", nil, 1, nil), in: schema) }
          inside = try transaction.count(FetchRequest(schema))
          throw Stop()
        }
      }
      #expect(isRolledBack && inside == 3)
      #expect(try transaction.catalog() == [schema])
      try transaction.nested { try transaction.insert(row("d", nil, 1, nil), in: schema) }
      // Another definition gets the schema version that was rolled back.
      try transaction.define(Fixtures.everything())
    }
    #expect(try context.catalog().map(\.name) == ["Everything", "User"])
    #expect(try context.values(FetchRequest(schema)).map { $0[0] } == [.text("a"), .text("d")])
    var escaped: (any StorageTransaction)?
    try context.transaction { escaped = $0 }
    #expect(code { _ = try escaped?.count(FetchRequest(schema)) } == .closed)
  }

  @Test("O4 deletions respect order, limit, offset and anchor")
  func deletions() throws {
    let movies = try Fixtures.movies()
    let rows = (0..<100).map { number -> [PersistentValue] in
      [.integer(Int64(number)), .text("t\(number % 10)"), .null, .integer(Int64(number % 3)), .null]
    }
    let (context, reference) = (try scratch.open(), MemoryContext())
    let requests = [
      try FetchRequest(movies, where: .comparison(field: "budget", .equal, .integer(1)), limit: 5),
      try FetchRequest(movies, order: [FieldOrder("budget", isDescending: true)], limit: 7, offset: 3),
      try FetchRequest(
        movies, order: [FieldOrder("title")], limit: 4, after: PageAnchor([.text("t5"), .integer(55)])),
      try FetchRequest(movies, where: .text(field: "title", .contains, "3", isCaseInsensitive: true)),
      try FetchRequest(movies, limit: 0), try FetchRequest(movies, offset: 60), try FetchRequest(movies),
    ]
    try context.fill(movies, rows)
    try reference.fill(movies, rows)
    for request in requests {
      var counts: [Int] = []
      for store in [context, reference] as [any StorageContext] {
        try store.transaction { counts.append(try $0.delete(request)) }
      }
      #expect(counts[0] == counts[1], "\(request)")
      #expect(
        try context.values(FetchRequest(movies)) == reference.values(FetchRequest(movies)), "\(request)")
    }
    try context.fill(movies, rows)
    try context.transaction { transaction in
      let count = try transaction.deleteAll(in: movies)
      #expect(count == 100)
    }
  }

  @Test("V7 a pattern that runs too long throws patternTooSlow, and a deletion with it deletes nothing")
  func slowPattern() throws {
    let movies = try Fixtures.movies()
    let context = try scratch.open()
    let long = String(repeating: "ab", count: 200_000)
    try context.fill(
      movies, (0..<3).map { [.integer($0), .text($0 == 2 ? long : "a"), .null, .integer(0), .null] })
    let pattern = "(" + String(repeating: "(a|b)?", count: 400) + "){3}c"
    let slow = PredicateNode.text(field: "title", .matches, pattern, isCaseInsensitive: false)
    let request: FetchRequest
    do {
      request = try FetchRequest(movies, where: .any([.comparison(field: "id", .less, .integer(2)), slow]))
    } catch {
      // The request rejected the pattern, so it cannot run for long either.
      return
    }
    let counted = code { _ = try context.count(request) }
    let deleted = code { try context.transaction { _ = try $0.delete(request) } }
    #expect(counted == deleted)
    if counted != nil {
      #expect(counted == .patternTooSlow)
      #expect(try context.count(FetchRequest(movies)) == 3)
    }
  }

  @Test("E4 reading or writing with a schema that differs from the store's throws schemaMismatch")
  func mismatch() throws {
    let context = try scratch.open()
    try context.fill(schema, [row("a", nil, 1, nil)])
    let other = try ModelSchema(
      name: "User", fields: [FieldSchema("id", .string), FieldSchema("mail", .int64)], key: ["id"])
    #expect(code { _ = try context.fetch(FetchRequest(other)) } == .schemaMismatch)
    #expect(code { _ = try context.values(of: .text("a"), in: other) } == .schemaMismatch)
    #expect(code { try context.fill(other, []) } == .schemaMismatch)
    // The order of the fields does not matter.
    let turned = try ModelSchema(
      name: "User", fields: schema.fields.reversed(), key: ["id"], indexes: schema.indexes)
    #expect(try context.values(of: .text("a"), in: turned) == row("a", nil, 1, nil).reversed())
    try context.transaction { try $0.save(row("b", "m", 2, 3).reversed(), in: turned) }
    #expect(try context.values(of: .text("b"), in: schema) == row("b", "m", 2, 3))
  }

  @Test("execute and rows run one statement with bound values; execute takes its turn among the writers")
  func ownSQL() throws {
    let context = try scratch.open()
    try context.fill(schema, [row("a", nil, 1, nil), row("b", nil, 2, nil)])
    let hostile = "x'; DROP TABLE User; --"
    #expect(
      try context.execute("UPDATE User SET mail = ?1 WHERE id = ?2", [.text(hostile), .text("a")]) == 1)
    #expect(
      try context.rows("SELECT mail, a, NULL, 1.5, x'00' FROM User WHERE mail = ?1", [.text(hostile)])
        == [[.text(hostile), .integer(1), .null, .double(1.5), .bytes([0])]])
    #expect(code { try context.execute("DELETE FROM User; DELETE FROM User") } == .invalidRequest)
    #expect(code { try context.execute("-- nothing") } == .invalidRequest)
    #expect(code { try context.execute("DELETE FROM User WHERE id = ?1") } == .invalidRequest)
    #expect(code { try context.execute("BEGIN IMMEDIATE") } == .invalidRequest)
    #expect(code { _ = try context.rows("DELETE FROM User") } == .invalidRequest)
    #expect(code { _ = try context.rows("SELECT * FROM nowhere") } == .engineFailure)
    #expect(
      code { try context.transaction { _ in try context.execute("DELETE FROM User") } } == .insideTransaction)
    #expect(try context.execute("DELETE FROM User") == 2)
    try context.execute("VACUUM")
    #expect(try context.count(FetchRequest(schema)) == 0)
  }

  @Test(
    "W6 a time of less than nothing, or without an end, is a time to wait",
    arguments: [Int64.min, -3_000_000, .max])
  func strangeTimes(seconds: Int64) throws {
    let context = try scratch.open {
      ($0.busyTimeout, $0.poolSize) = (.seconds(seconds), .max)
    }
    try context.fill(schema, [row("a", nil, 1, nil)])
    #expect(try context.count(FetchRequest(schema)) == 1)
    try context.close()
  }

  @Test("W6 a writer waits for another program, then throws busy; readers never wait")
  func busy() throws {
    let context = try scratch.open { $0.busyTimeout = .milliseconds(120) }
    try context.fill(schema, [row("a", nil, 1, nil)])
    let outsider = try Outsider(scratch.path())
    try outsider.execute("BEGIN IMMEDIATE; DELETE FROM User")
    let start = ContinuousClock.now
    do {
      try context.fill(schema, [row("b", nil, 2, nil)])
      Issue.record("it wrote while another writer held the lock")
    } catch let error as PersistenceError {
      #expect(error.code == .busy)
      #expect(error.isRetryable)
      #expect(error.engineError?.code == 5)
    }
    #expect(ContinuousClock.now - start >= .milliseconds(120))
    #expect(try context.count(FetchRequest(schema)) == 1)
    try outsider.execute("COMMIT")
    #expect(try context.count(FetchRequest(schema)) == 0)
    try context.fill(schema, [row("b", nil, 2, nil)])
    #expect(try outsider.texts("SELECT id FROM User") == ["b"])
  }

  @Test("C2 two contexts on one file lose no updates, and see each other's models immediately")
  func twoContexts() async throws {
    let (first, second) = (try scratch.open(), try scratch.open("./store.sqlite"))
    let counter = try ModelSchema(
      name: "Counter", fields: [FieldSchema("id", .int64), FieldSchema("n", .int64)], key: ["id"])
    #expect(try second.values(of: .integer(1), in: counter) == nil)
    try first.fill(counter, [[.integer(1), .integer(0)]])
    #expect(try second.values(of: .integer(1), in: counter) == [.integer(1), .integer(0)])
    try await withThrowingTaskGroup { group in
      for context in [first, second, first, second] {
        group.addTask {
          for _ in 0..<50 {
            try context.transaction { transaction in
              var number: Int64 = -1
              _ = try transaction.find(RecordKey([.integer(1)]), in: counter) { number = $0[1].integerValue }
              try transaction.save([.integer(1), .integer(number + 1)], in: counter)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try first.values(of: .integer(1), in: counter) == [.integer(1), .integer(200)])
    #expect(
      code { try first.transaction { _ in try second.transaction { _ in } } } == .insideTransaction)
    // If one context drops and redefines a model, the other does not read it with its stale definition.
    try first.execute("DROP TABLE Counter")
    try first.execute("DELETE FROM persistence_catalog")
    let changed = try ModelSchema(
      name: "Counter", fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"])
    try first.fill(changed, [[.integer(1), .text("x")]])
    #expect(code { _ = try second.values(of: .integer(1), in: counter) } == .schemaMismatch)
    #expect(code { _ = try second.count(FetchRequest(counter)) } == .schemaMismatch)
    #expect(try second.values(of: .integer(1), in: changed) == [.integer(1), .text("x")])
  }
}
