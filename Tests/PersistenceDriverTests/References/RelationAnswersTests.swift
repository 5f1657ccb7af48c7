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
