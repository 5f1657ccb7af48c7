import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// Conditions on related records.
struct RelationAnswersTests {
  private let context = MemoryContext()
  private let studios: ModelSchema

  /// A hundred films, two of each of fifty studios.
  init() throws {
    studios = try ModelSchema(name: "Studio", fields: [FieldSchema("id", .int64)], key: ["id"])
    let films = try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("studio", .int64, isOptional: true)],
      key: ["id"], indexes: [IndexSchema(["studio"])])
    try context.transaction { transaction in
      try transaction.define(films)
      let row = RowBuffer(count: 2)
      for id in Int64(0)..<100 {
        row.set([.integer(id), .integer(id % 50)])
        try row.withRow { try transaction.insert($0, in: films) }
      }
    }
  }

  private func answer(keyLimit: Int, by reader: any StorageReader) throws -> PredicateNode {
    let films = RelatedCondition(.referrers, field: "studio", model: "Film", .constant(true))
    return try RelationAnswers(reader, keyLimit: keyLimit).answer(.related(films), on: studios)
  }

  @Test("L5 a limit of related keys leaves the answer as it is, or ends it before more keys are read")
  func keyLimit() throws {
    let reader = CountingReader(context)
    let all = PredicateNode.isIn(field: "id", (Int64(0)..<50).map { PersistentValue.integer($0) })
    #expect(try answer(keyLimit: .max, by: reader) == all)
    #expect(try answer(keyLimit: 50, by: reader) == all)
    _ = reader.calls.take()
    let error = #expect(throws: PersistenceError.self) { _ = try answer(keyLimit: 10, by: reader) }
    #expect(error?.code == .invalidRequest)
    let calls = reader.calls.take()
    #expect(calls["aggregate"] == nil)
    #expect(calls["row"] == 21)
  }
}

/// Conditions that are decided by record.
struct RelationByRecordTests {
  private let context = MemoryContext()
  private let films: ModelSchema
  private let studios: ModelSchema

  /// 3,000 films of ten studios, some of none, and a few of a studio that the store does not contain.
  init() throws {
    studios = try ModelSchema(
      name: "Studio", fields: [FieldSchema("id", .int64), FieldSchema("year", .int64)], key: ["id"])
    films = try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("studio", .int64, isOptional: true)],
      key: ["id"], indexes: [IndexSchema(["studio"])])
    try context.transaction { transaction in
      for schema in [studios, films] { try transaction.define(schema) }
      let row = RowBuffer(count: 2)
      for id in Int64(0)..<10 {
        row.set([.integer(id), .integer(1920 + id)])
        try row.withRow { try transaction.insert($0, in: studios) }
      }
      for id in Int64(0)..<3_000 {
        row.set([.integer(id), id % 12 == 11 ? .null : .integer(id % 12)])
        try row.withRow { try transaction.insert($0, in: films) }
      }
    }
  }

  private func condition(after year: Int64) -> PredicateNode {
    .related(
      RelatedCondition(
        .target, field: "studio", model: "Studio",
        .comparison(field: "year", .greater, .integer(year))))
  }

  private func keys(where node: PredicateNode) throws -> [Int64] {
    var keys: [Int64] = []
    _ = try context.fetch(FetchRequest(films, where: node), selecting: [0]).read(from: 0, limit: .max) {
      if case .integer(let key) = try $0.value(at: 0) { keys.append(key) }
    }
    return keys
  }

  @Test(
    "L5 conditions that are decided by record find the same records, also as complements, together, and nested",
    arguments: [0, 1, 5, 100, 2_000])
  func sameRecords(fewKeys: Int) throws {
    let small = PredicateNode.comparison(field: "id", .less, .integer(1_500))
    let some = condition(after: 1924)
    let conditions: [PredicateNode] = [
      some, .not(some), .all([small, some]), .all([.not(some), small, condition(after: 1921)]),
      .any([some, small]), .all([some, .not(.not(condition(after: 1927)))]), .not(.all([some, small])),
      .all([small, condition(after: 1990)]),
    ]
    for condition in conditions {
      let byKeys = try RelationAnswers(context, fewKeys: .max).answer(condition, on: films)
      let byRecord = try RelationAnswers(context, fewKeys: fewKeys).answer(condition, on: films)
      let expected = try keys(where: byKeys)
      #expect(try keys(where: byRecord) == expected, "\(condition)")
    }
  }

  @Test("L5 many related records and few of the query's own are decided by record, as the plan says")
  func plan() throws {
    let few = PredicateNode.all([
      .comparison(field: "id", .less, .integer(3)), condition(after: 1900),
    ])
    let plans = RelationPlans()
    let answer = try RelationAnswers(context, fewKeys: 5, plans: plans).answer(few, on: films)
    #expect(answer.conjuncts.last == .isIn(field: "id", [.integer(0), .integer(1), .integer(2)]))
    #expect(plans.all.map(\.isByRecord) == [true])
    #expect(plans.all.first?.description.contains("by record, 3 fit") == true)
    // Where both are many, the related keys come first.
    let both = RelationPlans()
    _ = try RelationAnswers(context, fewKeys: 5, plans: both).answer(condition(after: 1900), on: films)
    #expect(both.all.map(\.isByRecord) == [false])
    #expect(both.all.map(\.keys) == [10])
  }
}

/// A reader that counts aggregates, and the rows that are read.
private final class CountingReader: StorageReaderWrapper {
  let wrappedReader: any StorageReader
  let calls = CallCounter()

  init(_ reader: any StorageReader) { wrappedReader = reader }

  func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
    CountingResults(results, calls)
  }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    calls.count("aggregate")
    return try wrappedReader.aggregate(request)
  }
}

private final class CountingResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let calls: CallCounter

  init(_ results: any StorageResults, _ calls: CallCounter) {
    wrapped = results
    self.calls = calls
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try wrapped.read(from: offset, limit: limit) { row in
      calls.count("row")
      try body(row)
    }
  }
}
