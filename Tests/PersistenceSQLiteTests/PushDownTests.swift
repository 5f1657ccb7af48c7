import Foundation
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import TestSupport
import Testing

/// Work that SQLite does without whole rows: aggregates, selected fields, and bulk updates.
@Suite struct PushDownTests {
  let scratch: Scratch
  let context: SQLiteContext
  let reference = MemoryContext()
  let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    schema = try Fixtures.everything()
    var random = SeededGenerator(seed: 4)
    let schema = schema
    let rows = (0..<300).map { number -> [PersistentValue] in
      schema.fields.map { field in
        field.name == "id"
          ? .integer(Int64(number)) : Fixtures.value(field.kind, optional: true, &random)
      }
    }
    try context.fill(schema, rows)
    try reference.fill(schema, rows)
  }

  /// Requests for all rows, some rows, a page, and rows after an anchor.
  private func requests() throws -> [FetchRequest] {
    let some = PredicateNode.comparison(field: "int32", .greaterOrEqual, .integer(0))
    let order = [FieldOrder("double", isDescending: true)]
    return [
      try FetchRequest(schema),
      try FetchRequest(schema, where: some),
      try FetchRequest(schema, where: some, order: order, limit: 17, offset: 5),
      try FetchRequest(schema, order: [FieldOrder("string")], offset: 250),
      try FetchRequest(schema, order: order, limit: 40, after: PageAnchor([.double(0), .integer(100)])),
      try FetchRequest(schema, where: .constant(false)),
      try FetchRequest(schema, limit: 0),
    ]
  }

  private func expectSame(_ request: AggregateRequest) throws {
    let expected = Result { try reference.aggregate(request) }
    let found = Result { try context.aggregate(request) }
    switch (expected, found) {
    case (.success(let expected), .success(let found)): #expect(found == expected, "\(request)")
    case (.failure(let expected as PersistenceError), .failure(let found as PersistenceError)):
      #expect(found.code == expected.code, "\(request)")
    default: Issue.record("\(request): \(expected) and \(found)")
    }
  }

  @Test("V4 aggregates of every kind, grouping and page equal the reference", arguments: 0..<7)
  func aggregates(_ number: Int) throws {
    let rows = try requests()[number]
    for field in schema.fields where field.kind.isOrdered {
      var aggregates: [Aggregate] = [.count, .minimum(of: field.name), .maximum(of: field.name)]
      try expectSame(AggregateRequest(rows, aggregates: [.maximum(of: field.name)]))
      if field.kind.isNumber { aggregates += [.average(of: field.name), .sum(of: field.name)] }
      for aggregate in aggregates { try expectSame(AggregateRequest(rows, aggregates: [aggregate])) }
      try expectSame(AggregateRequest(rows, aggregates: aggregates))
      try expectSame(AggregateRequest(rows, grouping: [field.name], aggregates: []))
      try expectSame(AggregateRequest(rows, grouping: ["bool", field.name], aggregates: [.count]))
      try expectSame(AggregateRequest(rows, grouping: [field.name], aggregates: [.sum(of: "int16"), .count]))
      try expectSame(AggregateRequest(rows, grouping: ["string"], aggregates: aggregates))
    }
  }

  @Test("V5 integer sums are exact where SQLite's intermediate sums overflow 64 bits")
  func overflows() throws {
    let schema = try ModelSchema(
      name: "Number", fields: [FieldSchema("id", .int64), FieldSchema("value", .int64)], key: ["id"])
    try context.fill(
      schema, [Int64.max, 1, -2].enumerated().map { [.integer(Int64($0)), .integer($1)] })
    let all = try FetchRequest(schema)
    #expect(
      try context.aggregate(AggregateRequest(all, aggregates: [.sum(of: "value"), .average(of: "value")]))
        == [AggregateGroup(key: [], values: [.integer(.max - 1), .double(Double(Int64.max - 1) / 3)])])
    let two = try FetchRequest(schema, where: .comparison(field: "value", .greater, .integer(0)))
    #expect(
      code { _ = try context.aggregate(AggregateRequest(two, aggregates: [.sum(of: "value")])) }
        == .valueTooLarge)
  }

  @Test("selected fields equal the reference, in any order and in pages")
  func selections() throws {
    for request in try requests() {
      for positions in [[2], [5, 0, 5], [], Array(schema.fields.indices.reversed())] {
        let expected = try values(reference.fetch(request, selecting: positions), page: .max)
        #expect(try values(context.fetch(request, selecting: positions), page: .max) == expected)
        #expect(try values(context.fetch(request, selecting: positions), page: 7) == expected)
        try context.transaction { transaction in
          let found = try values(transaction.fetch(request, selecting: positions), page: .max)
          #expect(found == expected)
        }
      }
    }
    #expect(code { _ = try context.fetch(FetchRequest(schema), selecting: [99]) } == .invalidRequest)
  }

  private func values(_ results: any StorageResults, page: Int) throws -> [[PersistentValue]] {
    var values: [[PersistentValue]] = []
    while try results.read(from: values.count, limit: page, { values.append(try $0.values()) }) == page {}
    return values
  }

  @Test("only selected fields are read and checked")
  func unselected() throws {
    let all = try FetchRequest(schema)
    try context.execute("UPDATE Everything SET int32 = 'x' WHERE id = 7")
    let (id, broken) = (0, try #require(schema.position(of: "int32")))
    #expect(try values(context.fetch(all, selecting: [id]), page: .max).count == 300)
    do {
      _ = try values(context.fetch(all, selecting: [id, broken]), page: .max)
      Issue.record("text was read as an integer")
    } catch let error as PersistenceError {
      #expect(error.code == .damaged)
      #expect(error.key == RecordKey([.integer(7)]))
      #expect(error.field == "int32")
    }
    #expect(try context.aggregate(AggregateRequest(all, aggregates: [.sum(of: "double")])).count == 1)
    for aggregate in [Aggregate.sum(of: "int32"), .average(of: "int32"), .maximum(of: "int32")] {
      #expect(code { _ = try context.aggregate(AggregateRequest(all, aggregates: [aggregate])) } == .damaged)
    }
  }

  @Test("bulk updates equal the reference, for conditions and for pages")
  func changes() throws {
    var random = SeededGenerator(seed: 9)
    for request in try requests() {
      let fields = schema.fields.filter { $0.name != "id" }.shuffled(using: &random).prefix(4)
      let update = try UpdateRequest(
        request,
        set: fields.map { FieldAssignment($0.name, Fixtures.value($0.kind, optional: true, &random)) })
      try context.transaction { transaction in
        let count = try transaction.update(update)
        var expected = -1
        try reference.transaction { expected = try $0.update(update) }
        #expect(count == expected)
      }
      #expect(try context.values(FetchRequest(schema)) == reference.values(FetchRequest(schema)))
    }
  }

  @Test("W4 a bulk update that violates a unique index names the value, and changes nothing")
  func rejections() throws {
    let schema = try ModelSchema(
      name: "Unique",
      fields: [
        FieldSchema("id", .string), FieldSchema("name", .string, isOptional: true),
        FieldSchema("age", .int64),
      ], key: ["id"], indexes: [IndexSchema(["name"], isUnique: true)])
    try context.fill(
      schema, ["a", "b", "c"].map { [.text($0), .text("name \($0)"), .integer(1)] })
    let before = try context.values(FetchRequest(schema))
    let update = try UpdateRequest(
      FetchRequest(schema),
      set: [FieldAssignment("name", .text("same")), FieldAssignment("age", .integer(2))])
    try context.transaction { transaction in
      do {
        _ = try transaction.update(update)
        Issue.record("three records got one name")
      } catch let error as PersistenceError {
        #expect(error.code == .uniqueViolation)
        #expect(error.field == "name")
        #expect(error.key == RecordKey([.text("b")]))
      }
      // The transaction stays usable, and nil values are never duplicates.
      let found = try transaction.values(FetchRequest(schema))
      #expect(found == before)
      let none = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("name", .null)])
      let count = try transaction.update(none)
      #expect(count == 3)
    }
    #expect(try context.values(FetchRequest(schema)).map { $0[1] } == [.null, .null, .null])
  }
}
