import PersistenceDriver
import PersistenceDriverSupport

extension StorageAccess {
  /// The request of a query; what it asks of related records is answered in the same moment (contract L5, L6).
  func answerable(_ options: RequestOptions) throws -> AnswerableRequest {
    try answerable(options, by: options.isRelated ? moment() : reader)
  }

  /// The reader of one moment, for a query that takes several requests.
  func moment() throws -> any StorageReader {
    switch self {
    case .store(let store, _): try store.snapshot()
    case .transaction(let transaction, _): transaction
    }
  }

  /// The request of a query; a reader answers what it asks of related records.
  func answerable(_ options: RequestOptions, by reader: any StorageReader) throws -> AnswerableRequest {
    guard options.isRelated else {
      let request = try options.request(at: root.location)
      return AnswerableRequest(reader: reader, request: request)
    }
    let declared = try options.related.map { try $0.declaration.schema }
    let (query, anchor) = try related(options, declared, by: reader)
    return try query.answered(by: reader, declared: declared, after: anchor)
  }

  /// How a reader answers a query, or only some of its fields.
  func plan(_ options: RequestOptions, selecting positions: [Int]? = nil) throws -> QueryPlan {
    guard options.isRelated else {
      let request = try options.request(at: root.location)
      if let positions { return try reader.plan(for: request, selecting: positions) }
      return try reader.plan(for: request)
    }
    let reader = try moment()
    let declared = try options.related.map { try $0.declaration.schema }
    let (query, anchor) = try related(options, declared, by: reader)
    return try query.plan(by: reader, declared: declared, after: anchor, selecting: positions)
  }

  /// A query that asks of related records, and the bookmark that it begins after.
  private func related(_ options: RequestOptions, _ declared: [ModelSchema], by reader: any StorageReader)
    throws -> (RelatedQuery, PageAnchor?)
  {
    let query = try options.relatedQuery()
    let anchor = try options.anchor(
      in: { try query.pageOrder(by: reader, declared: declared) }, at: root.location)
    return (query, anchor)
  }

  /// The token of the position of a record's row in the order of a query, whose related records a reader finds.
  func token(after row: RowBuffer, in options: RequestOptions, _ reader: any StorageReader) throws
    -> PageToken
  {
    let order = try options.relatedQuery().pageOrder(
      by: reader, declared: options.related.map { try $0.declaration.schema })
    return try PageToken(
      row.withRow { try order.anchor(of: $0) }, of: order.identifyingText, model: options.model.schema.name,
      location: root.location)
  }

  /// Performs a single write to the records of a query, as ``writeSingle(_:)`` does.
  func writeSingle(
    _ options: RequestOptions, _ body: (any StorageTransaction, FetchRequest) throws -> Void
  ) throws {
    guard options.isRelated || options.model.hasReferences else {
      let request = try options.request(at: root.location)
      return try writeSingle { try body($0, request) }
    }
    try writeSingle { transaction in
      let (model, schema) = (options.model, options.model.schema)
      // Another schema changes with the first record that is saved, and its references with it.
      if model.hasReferences, try transaction.schema(named: schema.name) == schema {
        try transaction.keeper?.declare(schema) { try model.type.declaration }
      }
      try body(transaction, answerable(options, by: transaction).request)
    }
  }
}
