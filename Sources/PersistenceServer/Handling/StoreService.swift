import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

/// Answers requests from a store.
///
/// It blocks, and is independent of connections.
struct StoreService: Sendable {
  let context: any StorageContext
  let limits: ServerLimits

  var queryLimits: QueryLimits {
    QueryLimits(
      pageSize: limits.pageSize, defaultPageSize: limits.defaultPageSize, depth: limits.queryDepth,
      nodes: limits.querySize)
  }

  /// Answers a valid and authorized request.
  ///
  /// - Throws: ``PersistenceError``, or `Problem` if the status depends on more than the error's code.
  func answer(_ request: ServiceRequest) throws -> Answer {
    if request.needsStore { try context.requireComplete() }
    return try StoreService(context: context.hidingRemovedFields(), limits: limits).answerFromStore(request)
  }

  private func answerFromStore(_ request: ServiceRequest) throws -> Answer {
    switch (request.path, request.method) {
    case (.health, _): return Answer(status: 204)
    case (.description, _):
      _ = try request.parameters(known: [])
      return .json(OpenAPIDocument(try models(context.catalog()), limits: queryLimits).json)
    case (.models, _):
      _ = try request.parameters(known: [])
      return .json(["models": .array(try models(context.catalog()).map(\.json))])
    case (.model(let name), .put): return try define(name, request)
    case (.model(let name), _):
      _ = try request.parameters(known: [])
      return .json(try schema(name, in: context).json)
    case (.records(let name), .post): return try insert(name, request)
    case (.records(let name), _), (.query(let name), _): return try records(query(name, request), request)
    case (.count(let name), _):
      let count = try context.count(query(name, request))
      return .json(["count": .number("\(count)")])
    case (.record(let name, let key), .put): return try replace(name, key, request)
    case (.record(let name, let key), .delete): return try delete(name, key, request)
    case (.record(let name, let key), _): return try find(name, key, request)
    case (.batches, _): return try apply(request)
    }
  }

  private func models(_ catalog: [ModelSchema]) -> [ModelSchema] {
    catalog.filter { !$0.isReserved }
  }

  /// The schema of a served model.
  func schema(_ name: String, in reader: any StorageReader) throws -> ModelSchema {
    guard !ReservedModel.isReserved(name), let schema = try reader.schema(named: name) else {
      throw Problem(status: 404, .unknownModel, "the server has no such model; define it first")
    }
    return schema
  }

  private func define(_ name: String, _ request: ServiceRequest) throws -> Answer {
    _ = try request.parameters(known: [])
    let schema = try ModelSchema(received: try request.json())
    guard StoredName(schema.name) == StoredName(name) else {
      throw PersistenceError.invalidRequest("the model of the schema differs from the model of the path")
    }
    guard !ReservedModel.isReserved(name) else {
      throw PersistenceError(
        .invalidSchema, "names that start with “\(ReservedModel.prefix)” are reserved; choose another name",
        model: name)
    }
    // Most models are known already, and comparing them must not wait for a writer.
    if let known = try context.schema(named: name) {
      try schema.requireCompatible(with: known, location: "")
      return .json(known.json)
    }
    try context.transaction { try $0.define(schema) }
    return .json(schema.json, status: 201)
  }

  /// The query of a request, from its body or from its URL.
  private func query(_ name: String, _ request: ServiceRequest) throws -> FetchRequest {
    let schema = try schema(name, in: context)
    guard request.method == .post else {
      let parameters = try request.parameters(known: WireQuery.parameters)
      return try WireQuery(parameters, schema, limits: queryLimits).request
    }
    _ = try request.parameters(known: [])
    return try WireQuery(request.json(), schema, limits: queryLimits).request
  }

  private func find(_ name: String, _ key: [String], _ request: ServiceRequest) throws -> Answer {
    let schema = try schema(name, in: context)
    _ = try request.parameters(known: [])
    let key = try RecordKey(path: key, in: schema)
    let unwanted = try request.ifNoneMatchTags()
    guard let line = try line(of: key, schema, in: context) else {
      throw PersistenceError.notFound(key, in: schema)
    }
    let tag = EntityTag(ofLine: line)
    guard unwanted?.matches(tag) != true else { return Answer(status: 304, headers: [("ETag", tag.text)]) }
    return .record(line)
  }

  /// The canonical line of a record; nil if it does not exist.
  func line(of key: RecordKey, _ schema: ModelSchema, in reader: any StorageReader) throws -> String? {
    var line: String?
    _ = try reader.find(key, in: schema) { line = try RecordJSON.line($0, schema) }
    return line
  }
}

extension StoreService {
  /// The records of a query: a stream of lines, or a page.
  func records(_ request: FetchRequest, _ served: ServiceRequest) throws -> Answer {
    if served.wantsLines {
      return Answer(status: 200, body: .lines(RecordLines(try context.fetch(request), request.schema)))
    }
    if let limit = request.limit, limit > limits.pageSize {
      throw PersistenceError.invalidRequest(
        "a page has at most \(limits.pageSize) records; request application/x-ndjson to get more in one answer"
      )
    }
    return try page(request, limit: request.limit ?? limits.defaultPageSize)
  }

  private struct EndOfPage: Error {}

  private func page(_ request: FetchRequest, limit: Int) throws -> Answer {
    let schema = request.schema
    // One more record shows whether another page follows.
    let asked = try FetchRequest(
      schema, where: request.predicate, order: request.order, limit: limit + 1, offset: request.offset,
      after: request.after)
    var (bytes, count, last, next) = (Array("{\"records\":[".utf8), 0, nil as PageAnchor?, nil as String?)
    let writer = RecordWriter(schema)
    let order = try RowOrder(request.totalOrder, in: schema)
    do {
      _ = try context.fetch(asked).read(from: 0, limit: limit + 1) { row in
        if count == limit || bytes.count > limits.pageBytes {
          next = try last.map { try PositionToken.text($0, of: request) }
          throw EndOfPage()
        }
        if count > 0 { bytes.append(UInt8(ascii: ",")) }
        try writer.append(row, to: &bytes)
        count += 1
        if count == limit || bytes.count > limits.pageBytes { last = PageAnchor(try order.key(of: row)) }
      }
    } catch is EndOfPage {}
    bytes.append(contentsOf: ("],\"next\":" + (next.map { "\"\($0)\"" } ?? "null") + "}").utf8)
    return Answer(status: 200, body: .json(String(decoding: bytes, as: UTF8.self)))
  }
}
