import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

/// A query for a server, which answers what it asks of related records.
struct RemoteQuery: Sendable {
  /// The query.
  private(set) var query: RelatedQuery
  /// The query as one request; nil if it asks of related records.
  let request: FetchRequest?
  /// What the answer has besides the records.
  var inclusions: [RelatedInclusion] = []
  /// The related models, as the client declares them.
  let related: [WireSchema]
  /// The token, the values or the record that the page begins after.
  private var after: JSONValue?

  var schema: ModelSchema { query.schema }

  /// The maximum number of records of the next page.
  var limit: Int? {
    get { query.limit }
    set { query.limit = newValue }
  }

  /// Continues after a page, with its token.
  mutating func `continue`(after token: String) {
    after = .string(token)
    query.offset = 0
  }

  /// A query for records of a model, and the types of related ones.
  init<Object: PersistentRecord>(
    _ options: FetchOptions<Object>, including types: [any PersistentRecord.Type] = [], at location: String
  ) throws {
    let related = options.related + types
    var declared: [WireSchema] = []
    for type in related {
      let schema = try WireSchema(type.declaration)
      let isKnown = (declared.map(\.declaration.schema) + [try Object.schema.model]).contains {
        StoredName($0.name) == StoredName(schema.declaration.schema.name)
      }
      if !isKnown { declared.append(schema) }
    }
    self.related = declared
    query = try options.relatedQuery()
    guard query.isRelated else {
      let request = try options.request(at: location)
      self.request = request
      after = try request.after.map { try PositionToken.json($0, request.orderFields) }
      return
    }
    guard options.token == nil else {
      throw PersistenceError(
        .unsupported, "a page token of a repository does not continue a server's query over related records",
        model: query.schema.name)
    }
    request = nil
    after = try options.after.map { try RemoteRecord<Object>.json($0) }
  }

  func body() throws(PersistenceError) -> JSONValue {
    try PersistenceError.catching {
      let declared = related.map(\.declaration.schema) + [schema]
      return try WireQuery.json(query, after: after, including: inclusions, related: declared)
    }
  }

  /// The query as one request, for a server that answers no others.
  func plainRequest(at location: String) throws(PersistenceError) -> FetchRequest {
    guard let request, inclusions.isEmpty else {
      throw .unsupported("answer conditions on related records, or include them,", by: location)
    }
    return request
  }
}

extension FetchRequest {
  /// The fields of a bookmark.
  fileprivate var orderFields: [FieldSchema] {
    get throws { try totalOrder.map { try schema.requiredField(named: $0.field) } }
  }
}

/// A page of records with those that it includes.
struct RemotePage: Sendable {
  let records: [JSONValue]
  /// The included records of each model.
  let included: [(model: String, records: [JSONValue])]
  /// The token of the next page; nil at the end.
  let next: String?

  /// A page from a server's answer; nil if it is none.
  init?(_ json: JSONValue) {
    guard case .array(let records)? = json.member("records") else { return nil }
    self.records = records
    var included: [(model: String, records: [JSONValue])] = []
    switch json.member("included") {
    case .object(let members)?:
      for member in members {
        guard case .array(let records) = member.value else { return nil }
        included.append((member.name, records))
      }
    case nil: break
    default: return nil
    }
    self.included = included
    switch json.member("next") {
    case .string(let token)?: next = token
    case .null?: next = nil
    default: return nil
    }
  }
}

/// Checks that the records of an answer are those of its request: no more than asked for, and in order.
///
/// A proxy that mixes up answers, or a server that ignores a parameter, would otherwise give an app the records of
/// another request, or the same page for ever.
struct AnswerCheck {
  private let order: RowOrder?
  private let limit: Int?
  private var count = 0
  private var previous: [PersistentValue]?

  /// Prepares the check of a query's records.
  ///
  /// Only a server of this package sends them in the contract's order, and only the server knows an order by fields of
  /// related records.
  init(_ query: RemoteQuery, isOrdered: Bool) throws {
    limit = query.query.limit
    guard isOrdered, let request = query.request else {
      order = nil
      return
    }
    order = try RowOrder(request.totalOrder, in: request.schema)
    // An engine may store dates with less precision than the app's anchor has.
    let hasDate = request.after?.values.contains { if case .date = $0 { true } else { false } } ?? false
    previous = hasDate ? nil : request.after?.values
  }

  /// Checks the next record.
  ///
  /// - Throws: ``AnswerMismatch``.
  mutating func check(_ row: borrowing Row) throws {
    count += 1
    if let limit, count > limit {
      throw AnswerMismatch(reason: "it has more records than the limit of \(limit)")
    }
    guard let order else { return }
    let next = try order.key(of: row)
    if let previous, order.compare(previous, next) >= 0 {
      throw AnswerMismatch(reason: "its records are out of order, or repeated")
    }
    previous = next
  }

  /// Checks that a record is the one that the request names.
  ///
  /// - Throws: ``AnswerMismatch``.
  static func check(_ row: borrowing Row, has key: RecordKey, in schema: ModelSchema) throws {
    let found = try RecordKey(of: row, in: schema)
    guard RecordKey.compare(found, key) == 0 else {
      throw AnswerMismatch(reason: "it has the record of \(found) instead of \(key)")
    }
  }
}

/// Why an answer is not that of its request.
struct AnswerMismatch: Error {
  let reason: String
}
