import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceLMDB
import Testing

@testable import PersistenceKeyValue

/// The rows of a request are passed on once, by a plan that a reader keeps.
@Suite struct SinglePassTests {
  private struct Stop: Error {}

  private static let people = (0..<300).map { number -> [PersistentValue] in
    // Names from 1 to 300 bytes, so that an array of short keys cuts many.
    let name = String(repeating: "n", count: number % 7 == 0 ? number % 300 + 1 : 3) + "\(number % 40)"
    return [
      .integer(Int64(number)), .text(name), number % 5 == 0 ? .null : .integer(Int64(number * 37 % 50)),
      .double(Double(number % 9)),
    ]
  }

  private static func schema(indexes: [[String]] = [["name"], ["age"], ["score", "age"]]) throws
    -> ModelSchema
  {
    try ModelSchema(
      name: "Person",
      fields: [
        FieldSchema("id", .int64), FieldSchema("name", .string), FieldSchema("age", .int64, isOptional: true),
        FieldSchema("score", .double),
      ], key: ["id"], indexes: indexes.map { IndexSchema($0) })
  }

  /// The contexts that pass rows on: LMDB, whose readers keep plans, and an ordered store whose bytes soon change, and whose
  /// keys are short.
  private static func withContexts(_ body: (any SinglePassContext) throws -> Void) throws {
    let folder = try ScratchFolder().make("passes")
    let lmdb = try LMDBContext(path: folder.appending(path: "store.lmdb").path)
    for context in [lmdb, try OrderedStoreContext(VolatileStore())] as [any SinglePassContext] {
      try context.fill(schema(), people)
      try body(context)
      try context.close()
    }
  }

  private static func requests(_ schema: ModelSchema, limit: Int?, offset: Int = 0) throws -> [FetchRequest] {
    let orders: [[FieldOrder]] = [
      [], [FieldOrder("id", isDescending: true)], [FieldOrder("name")],
      [FieldOrder("name", isDescending: true)], [FieldOrder("age")], [FieldOrder("age", isDescending: true)],
      [FieldOrder("score"), FieldOrder("age")],
      [FieldOrder("score", isDescending: true), FieldOrder("name")],
    ]
    let long = String(repeating: "n", count: 130)
    let conditions: [PredicateNode?] =
      [
        nil, .comparison(field: "id", .less, .integer(0)),
        .isIn(field: "age", [.integer(3), .integer(7), .integer(49)]),
        .all([
          .comparison(field: "score", .equal, .double(3)), .comparison(field: "age", .greater, .integer(9)),
          .comparison(field: "age", .lessOrEqual, .integer(41)),
        ]),
        .all([
          .comparison(field: "age", .greater, .integer(9)),
          .comparison(field: "name", .notEqual, .text("nnn3")),
        ]),
        .all([
          .comparison(field: "age", .greater, .integer(30)), .comparison(field: "age", .less, .integer(10)),
        ]),
      ]
      + ["", "nnn2", "nnnn", long, long + "12", "o"].flatMap { name in
        [ComparisonOperator.equal, .less, .lessOrEqual, .greater, .greaterOrEqual].map {
          .comparison(field: "name", $0, .text(name))
        }
      }
      + [0, 1, 25, 49, 50].map { .comparison(field: "age", .greaterOrEqual, .integer($0)) }
      + [0, 150, 299, 300].map { .comparison(field: "id", .greater, .integer($0)) }
    return try orders.flatMap { order in
      try conditions.map {
        try FetchRequest(schema, where: $0, order: order, limit: limit, offset: offset)
      }
    }
  }

  @Test("O2 O4 V6 a pass has the rows that a fetch has, also when requests of one shape follow one another")
  func rows() throws {
    let schema = try Self.schema()
    try Self.withContexts { context in
      for (limit, offset) in [(1, 0), (9, 0), (40, 3), (500, 0), (5, 290), (5, 1000), (Int.max, Int.max)] {
        for request in try Self.requests(schema, limit: limit, offset: offset) {
          let fetched = try context.rows(request)
          for _ in 0..<2 {
            let passed = try context.passed(request)
            #expect(passed == fetched, "\(request) of \(context.location)")
          }
          #expect(try context.passed(request.plannedAnew) == fetched)
        }
      }
      for request in try Self.requests(schema, limit: nil) { #expect(try context.passed(request) == nil) }
      for request in try Self.requests(schema, limit: 0) { #expect(try context.passed(request) == []) }
      let unknown = try ModelSchema(name: "Unknown", fields: [FieldSchema("id", .int64)], key: ["id"])
      #expect(try context.passed(FetchRequest(unknown, limit: 5)) == [])
    }
  }

  @Test("E4 a kept plan ends with its indexes and with its model")
  func schemaChanges() throws {
    let schema = try Self.schema()
    try Self.withContexts { context in
      let condition = PredicateNode.comparison(field: "age", .greaterOrEqual, .integer(20))
      func check(_ schema: ModelSchema, _ comment: Comment) throws {
        let request = try FetchRequest(schema, where: condition, order: [FieldOrder("age")], limit: 12)
        let fetched = try context.rows(request.plannedAnew)
        for _ in 0..<3 { #expect(try context.passed(request) == fetched, comment) }
      }
      try check(schema, "as declared")
      let fewer = try Self.schema(indexes: [["score", "age"]])
      try context.transaction {
        try $0.evolve(SchemaChange(from: schema, to: fewer, sources: (0..<4).map { .field($0) }))
      }
      try check(fewer, "without the index")
      #expect(throws: PersistenceError.self) { try context.passed(FetchRequest(schema, limit: 5)) }
      try context.transaction {
        try $0.evolve(SchemaChange(from: fewer, to: schema, sources: (0..<4).map { .field($0) }))
      }
      try check(schema, "with the index again")
      try context.transaction { try $0.drop(schema) }
      #expect(try context.passed(FetchRequest(schema, where: condition, limit: 12)) == [])
      try context.fill(schema, Self.people.suffix(50))
      try check(schema, "defined again")
    }
  }

  @Test("an error of the closure ends the pass, which holds nothing then")
  func stopped() throws {
    let schema = try Self.schema()
    try Self.withContexts { context in
      for order in [[], [FieldOrder("age")], [FieldOrder("score"), FieldOrder("name")]] {
        let request = try FetchRequest(schema, order: order, limit: 20)
        let fetched = try context.rows(request)
        for _ in 0..<3 { _ = try context.passed(request) }
        for end in [1, 2, 19, 20] {
          var count = 0
          #expect(throws: Stop.self) {
            _ = try context.readOnce(request) { _ in
              count += 1
              if count == end { throw Stop() }
            }
          }
          #expect(count == end)
          #expect(try context.passed(request) == fetched)
        }
      }
    }
  }

  @Test("R1 a pass shows one moment, and its closure may read and write the store")
  func moment() throws {
    let schema = try Self.schema()
    try Self.withContexts { context in
      for order in [[], [FieldOrder("age")], [FieldOrder("score"), FieldOrder("name")]] {
        let request = try FetchRequest(schema, order: order, limit: 30)
        let fetched = try context.rows(request)
        // The first passes make a plan, and the others have it.
        for _ in 0..<5 {
          var rows: [[PersistentValue]] = []
          let count = try context.readOnce(request) { row in
            if rows.count % 7 == 0 {
              try context.fill(schema, [[.integer(-1), .text("n"), .null, .double(-1)]])
              #expect(try context.passed(FetchRequest(schema, limit: 1))?.first?.first == .integer(-1))
              #expect(try context.passed(request)?.count == 30)
            }
            rows.append(try row.values())
          }
          #expect(count == 30 && rows == fetched)
          try context.transaction { _ = try $0.delete(RecordKey([.integer(-1)]), in: schema) }
        }
      }
    }
  }

  @Test("R5 a pass ends when it is interrupted, and the next one does not")
  func interrupted() throws {
    let schema = try Self.schema()
    try Self.withContexts { context in
      for order in [[], [FieldOrder("age")], [FieldOrder("score"), FieldOrder("name")]] {
        let request = try FetchRequest(schema, order: order, limit: 250)
        let fetched = try context.rows(request)
        for _ in 0..<3 { _ = try context.passed(request) }
        var count = 0
        let interruption = ReadInterruption(atCheck: 3, PersistenceError(.timedOut, "late"))
        let error = #expect(throws: PersistenceError.self) {
          try interruption.run { _ = try context.readOnce(request) { _ in count += 1 } }
        }
        #expect(error?.code == .timedOut && count < 250)
        #expect(try context.passed(request) == fetched)
      }
    }
  }

  @Test("R3 a closed context passes nothing on")
  func closed() throws {
    let schema = try Self.schema()
    try Self.withContexts { context in
      _ = try context.passed(FetchRequest(schema, limit: 5))
      try context.close()
      let error = #expect(throws: PersistenceError.self) {
        try context.passed(FetchRequest(schema, limit: 5))
      }
      #expect(error?.code == .closed)
    }
  }
}

extension SinglePassContext {
  fileprivate func fill(_ schema: ModelSchema, _ rows: some Sequence<[PersistentValue]>) throws {
    try transaction { transaction in
      try transaction.define(schema)
      let buffer = RowBuffer(count: schema.fields.count)
      for row in rows {
        buffer.set(row)
        try buffer.withRow { try transaction.save($0, in: schema) }
      }
    }
  }

  fileprivate func rows(_ request: FetchRequest) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try fetch(request).read(from: 0, limit: .max) { rows.append(try $0.values()) }
    return rows
  }

  /// The rows that are passed on; nil if they must be fetched.
  fileprivate func passed(_ request: FetchRequest) throws -> [[PersistentValue]]? {
    var rows: [[PersistentValue]] = []
    let count = try readOnce(request) { rows.append(try $0.values()) }
    #expect(count ?? 0 == rows.count)
    return count == nil ? nil : rows
  }
}
