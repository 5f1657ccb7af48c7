import PersistenceDriver
package import PersistenceDriverSupport
import PersistencePrimitives

extension FetchOptions where Model: PersistentRecord {
  /// Whether an answer takes requests for related records.
  var isRelated: Bool { predicate.hasRelations || sorting.contains { $0.relation != nil } }

  /// The related models, as the code declares them.
  package var related: [any PersistentRecord.Type] {
    // Each query asks; a key path in generic code would be made anew each time.
    var related = predicate.related
    for criterion in sorting {
      if let target = criterion.relation?.target { related.append(target) }
    }
    return related
  }

  /// The query for a reader of related records.
  package func relatedQuery() throws -> RelatedQuery {
    RelatedQuery(
      try Model.schema.model, where: try predicate.requestedNode(),
      order: sorting.map { .init($0.fieldOrder, related: $0.related) }, limit: limit, offset: offset)
  }

  /// The names of the related models, also of those whose declarations the options lack.
  var relatedNames: Set<StoredName> {
    var names = predicate.node.relatedModels
    for criterion in sorting {
      if let relation = criterion.relation { names.insert(StoredName(relation.field.model)) }
    }
    return names
  }
}

extension StorageAccess {
  /// Calls a closure with the request of a query and its access to a context.
  ///
  /// Most queries ask of one model. They find out that an order is related when no field has its name.
  @inline(__always)  // as the access without a request
  static func withRequest<Model: PersistentRecord, Result>(
    of options: FetchOptions<Model>, in context: any PersistentContext,
    _ body: (StorageAccess, AnswerableRequest) throws -> Result
  ) throws -> Result {
    if !options.predicate.hasRelations {
      do {
        return try with(context, for: Model.self) { access in
          try body(
            access, AnswerableRequest(reader: access.reader, request: options.request(in: access.root)))
        }
      } catch let error as PersistenceError where error.code == .unsupported && options.isRelated {}
    }
    return try with(context, for: Model.self, relating: options.related) { access in
      try body(access, access.answerable(options))
    }
  }

  /// The request of a query; what it asks of related records is answered in the same moment (contract L5, L6).
  func answerable<Model: PersistentRecord>(_ options: FetchOptions<Model>) throws -> AnswerableRequest {
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
  func answerable<Model: PersistentRecord>(_ options: FetchOptions<Model>, by reader: any StorageReader)
    throws
    -> AnswerableRequest
  {
    guard options.isRelated else {
      let request = try options.request(in: root)
      return AnswerableRequest(reader: reader, request: request)
    }
    let declared = try options.related.map { try $0.declaration.schema }
    let (query, anchor) = try related(options, declared, by: reader)
    return try query.answered(by: reader, declared: declared, after: anchor)
  }

  /// How a reader answers a query, or only some of its fields.
  func plan<Model: PersistentRecord>(
    _ options: FetchOptions<Model>, selecting positions: [Int]? = nil
  ) throws -> QueryPlan {
    guard options.isRelated else {
      let request = try options.request(in: root)
      if let positions { return try reader.plan(for: request, selecting: positions) }
      return try reader.plan(for: request)
    }
    let reader = try moment()
    let declared = try options.related.map { try $0.declaration.schema }
    let (query, anchor) = try related(options, declared, by: reader)
    return try query.plan(by: reader, declared: declared, after: anchor, selecting: positions)
  }

  /// A query that asks of related records, and the bookmark that it begins after.
  private func related<Model: PersistentRecord>(
    _ options: FetchOptions<Model>, _ declared: [ModelSchema], by reader: any StorageReader
  ) throws -> (RelatedQuery, PageAnchor?) {
    let query = try options.relatedQuery()
    guard options.token != nil || options.after != nil else { return (query, nil) }
    let order = try query.pageOrder(by: reader, declared: declared)
    if let token = options.token {
      let model = try Model.schema.model.name
      return (query, try token.anchor(for: order.identifyingText, model: model, location: root.location))
    }
    return (query, try options.after.map { try Self.anchor(of: $0, in: order) })
  }

  /// The token of a record's position in the order of a query, whose related records a reader finds.
  func token<Model: PersistentRecord>(
    after model: Model, in options: FetchOptions<Model>, _ reader: any StorageReader
  )
    throws -> PageToken
  {
    let order = try options.relatedQuery().pageOrder(
      by: reader, declared: options.related.map { try $0.declaration.schema })
    return try PageToken(
      Self.anchor(of: model, in: order), of: order.identifyingText, model: Model.schema.model.name,
      location: root.location)
  }

  private static func anchor<Model: PersistentRecord>(of model: Model, in order: PageOrder) throws
    -> PageAnchor
  {
    let row = RowBuffer(count: try Model.schema.model.fields.count)
    try model.encode(into: row)
    return try row.withRow { try order.anchor(of: $0) }
  }

  /// Performs a single write to the records of a query, as ``writeSingle(_:)`` does.
  func writeSingle<Model: PersistentRecord>(
    _ options: FetchOptions<Model>, _ body: (any StorageTransaction, FetchRequest) throws -> Void
  ) throws {
    guard options.isRelated || Model.schema.hasReferences else {
      let request = try options.request(in: root)
      return try writeSingle { try body($0, request) }
    }
    try writeSingle { transaction in
      let schema = try Model.schema.model
      // Another schema changes with the first record that is saved, and its references with it.
      if Model.schema.hasReferences, try transaction.schema(named: schema.name) == schema {
        try transaction.keeper?.declare(schema) { try Model.schema.declaration }
      }
      try body(transaction, answerable(options, by: transaction).request)
    }
  }
}
