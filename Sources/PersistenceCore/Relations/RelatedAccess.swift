import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// A request, and the reader that answers it.
struct AnswerableRequest {
  let reader: any StorageReader
  /// The request; with ``keys``, its filter is these keys, and it has no order.
  let request: FetchRequest
  /// The keys of the records in order, if fields of related records decide the order.
  var keys: [RecordKey]?
  /// What a page token belongs to, if it is not the request.
  var query: String?

  /// What a page token belongs to.
  var identifyingText: String { query ?? request.identifyingText }

  /// The rows of the request.
  func fetch(selecting positions: [Int]? = nil) throws -> any StorageResults {
    if let keys { return KeyedResults(keys, of: request.schema, selecting: positions, reader) }
    return if let positions { try reader.fetch(request, selecting: positions) } else {
      try reader.fetch(request)
    }
  }

  /// Counts the rows of the request.
  func count() throws -> Int { try keys?.count ?? reader.count(request) }
}

extension FetchOptions where Model: PersistentRecord {
  /// Whether an answer takes requests for related records.
  var isRelated: Bool { predicate.hasRelations || sorting.contains { $0.relation != nil } }

  /// The related models, as the code declares them.
  var related: [any PersistentRecord.Type] {
    // Each query asks; a key path in generic code would be made anew each time.
    var related = predicate.related
    for criterion in sorting {
      if let target = criterion.relation?.target { related.append(target) }
    }
    return related
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
    let node = try options.predicate.checkedNode()
    let declared = try options.related.map { try $0.declaration.schema }
    let answer = try RelationAnswers(reader, declared: declared).answer(node, on: Model.schema.model)
    var answered = options
    answered.predicate = PersistentPredicate(node: answer)
    // The keys that were found do not belong to the query.
    let filter = "\(node)"
    guard options.sorting.contains(where: { $0.relation != nil }) else {
      let request = try answered.request(at: root.location, filter: filter)
      return AnswerableRequest(
        reader: reader, request: request, query: request.identifyingText(filter: filter))
    }
    return try ordered(answered, filter: filter, by: reader)
  }

  /// The request of a query whose order depends on related records.
  private func ordered<Model: PersistentRecord>(
    _ options: FetchOptions<Model>, filter: String, by reader: any StorageReader
  ) throws -> AnswerableRequest {
    let schema = try Model.schema.model
    // These two throw for a limit and an offset that no request can have.
    let whole = try FetchRequest(schema, where: options.predicate.requestedNode())
    _ = try FetchRequest(schema, limit: options.limit, offset: options.offset)
    let order = try relatedOrder(options, reader)
    let text = Self.identifyingText(of: order, filter: filter, schema)
    var anchor: PageAnchor?
    if let token = options.token {
      anchor = try token.anchor(for: text, model: schema.name, location: root.location)
    } else if let after = options.after {
      let row = RowBuffer(count: schema.fields.count)
      try after.encode(into: row)
      anchor = try row.withRow { try order.anchor(of: $0) }
    }
    let keys = try order.keys(
      where: whole.predicate, after: anchor, offset: options.offset, limit: options.limit)
    let isPart = anchor != nil || options.offset > 0 || options.limit != nil
    return AnswerableRequest(
      reader: reader, request: isPart ? try FetchRequest(schema, where: schema.condition(keys)) : whole,
      keys: keys, query: text)
  }

  /// The token of a record's position in the order of a query, whose related records a reader finds.
  func token<Model: PersistentRecord>(
    after model: Model, in options: FetchOptions<Model>, _ reader: any StorageReader
  )
    throws -> PageToken
  {
    var whole = options
    (whole.token, whole.after) = (nil, nil)
    let schema = try Model.schema.model
    guard options.sorting.contains(where: { $0.relation != nil }) else {
      let answerable = try answerable(whole, by: reader)
      return try PageToken(
        FetchOptions.anchor(of: model, in: answerable.request), of: answerable.identifyingText,
        model: schema.name,
        location: root.location)
    }
    let order = try relatedOrder(whole, reader)
    let row = RowBuffer(count: schema.fields.count)
    try model.encode(into: row)
    let text = try Self.identifyingText(of: order, filter: "\(whole.predicate.checkedNode())", schema)
    return try PageToken(
      row.withRow { try order.anchor(of: $0) }, of: text, model: schema.name, location: root.location)
  }

  private func relatedOrder<Model: PersistentRecord>(
    _ options: FetchOptions<Model>, _ reader: any StorageReader
  ) throws
    -> RelatedOrder
  {
    try RelatedOrder(
      options.sorting.map { .init($0.fieldOrder, related: $0.related) }, of: Model.schema.model, reader,
      declared: options.related.map { try $0.declaration.schema })
  }

  /// What a page token of a related order belongs to.
  private static func identifyingText(of order: RelatedOrder, filter: String, _ schema: ModelSchema) -> String
  {
    "\(schema.name)\n\(filter)\n\(order.description)"
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

extension ModelSchema {
  /// The condition that a record has one of some keys.
  fileprivate func condition(_ keys: [RecordKey]) -> PredicateNode {
    if key.count == 1 { return .isIn(field: key[0], keys.map { $0.values[0] }) }
    return .any(
      keys.map { record in
        .all(zip(key, record.values).map { .comparison(field: $0, .equal, $1) })
      })
  }
}
