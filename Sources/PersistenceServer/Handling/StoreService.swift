import Foundation
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// Answers requests from a store; it blocks, and knows nothing of connections.
struct StoreService: Sendable {
  let context: any StorageContext
  let limits: ServerLimits

  var queryLimits: QueryLimits {
    QueryLimits(
      pageSize: limits.pageSize, defaultPageSize: limits.defaultPageSize, depth: limits.queryDepth,
      nodes: limits.querySize)
  }

  /// Answers a request whose method its path has and whose sender has leave.
  ///
  /// - Throws: ``PersistenceError``, and `Problem` where the answer depends on more than an error's code.
  func answer(_ request: ServedRequest) throws -> Answer {
    if request.needsStore { try context.requireComplete() }
    switch (request.path, request.method) {
    case (.health, _): return Answer(status: 204)
    case (.description, _):
      _ = try request.parameters(known: [])
      return .json(OpenAPIDocument(try models(context.catalog()), limits: queryLimits).json)
    case (.models, _):
      _ = try request.parameters(known: [])
      return .json(.object([JSONMember("models", .array(try models(context.catalog()).map(\.json)))]))
    case (.model(let name), .put): return try define(name, request)
    case (.model(let name), _):
      _ = try request.parameters(known: [])
      return .json(try schema(name, in: context).json)
    case (.records(let name), .post): return try insert(name, request)
    case (.records(let name), _), (.query(let name), .get), (.query(let name), .head):
      let schema = try schema(name, in: context)
      let parameters = try request.parameters(known: WireQuery.parameters)
      return try records(try WireQuery(parameters, schema, limits: queryLimits).request, request)
    case (.query(let name), _):
      let schema = try schema(name, in: context)
      _ = try request.parameters(known: [])
      return try records(try WireQuery(request.json(), schema, limits: queryLimits).request, request)
    case (.count(let name), .post):
      let schema = try schema(name, in: context)
      _ = try request.parameters(known: [])
      return try count(try WireQuery(request.json(), schema, limits: queryLimits).request)
    case (.count(let name), _):
      let schema = try schema(name, in: context)
      let parameters = try request.parameters(known: WireQuery.parameters)
      return try count(try WireQuery(parameters, schema, limits: queryLimits).request)
    case (.record(let name, let key), .put): return try replace(name, key, request)
    case (.record(let name, let key), .delete): return try delete(name, key, request)
    case (.record(let name, let key), _): return try find(name, key, request)
    case (.batches, _): return try apply(request)
    }
  }

  private func models(_ catalog: [ModelSchema]) -> [ModelSchema] {
    catalog.filter { !ReservedModel.isReserved($0.name) }
  }

  /// The schema of a model that is served.
  func schema(_ name: String, in reader: any StorageReader) throws -> ModelSchema {
    guard !ReservedModel.isReserved(name), let schema = try reader.schema(named: name) else {
      throw Problem(status: 404, .unknownModel, "there is no such model here")
    }
    return schema
  }

  private func define(_ name: String, _ request: ServedRequest) throws -> Answer {
    _ = try request.parameters(known: [])
    let schema = try ModelSchema(received: try request.json())
    guard StoredName(schema.name) == StoredName(name) else {
      throw PersistenceError.invalidRequest("the schema is that of another model than the path names")
    }
    guard !ReservedModel.isReserved(name) else {
      throw PersistenceError(
        .invalidSchema, "names that begin with “\(ReservedModel.prefix)” are not for models of clients",
        model: name)
    }
    // Most clients say what is known already: they need not wait for those that write.
    if let known = try context.schema(named: name) {
      try schema.requireCompatible(with: known, location: "")
      return .json(known.json)
    }
    try context.transaction { try $0.define(schema) }
    return .json(schema.json, status: 201)
  }

  private func count(_ request: FetchRequest) throws -> Answer {
    .json(.object([JSONMember("count", .number("\(try context.count(request))"))]))
  }

  private func find(_ name: String, _ key: [String], _ request: ServedRequest) throws -> Answer {
    let schema = try schema(name, in: context)
    _ = try request.parameters(known: [])
    let key = try RecordKey(path: key, in: schema)
    let unwanted = try request.unwantedTags()
    guard let line = try line(of: key, schema, in: context) else {
      throw PersistenceError.notFound(key, in: schema)
    }
    let tag = EntityTag(ofLine: line)
    guard unwanted?.matches(tag) != true else { return Answer(status: 304, headers: [("ETag", tag.text)]) }
    return .record(line)
  }

  /// The canonical line of a record; nil where there is none.
  func line(of key: RecordKey, _ schema: ModelSchema, in reader: any StorageReader) throws -> String? {
    var line: String?
    _ = try reader.find(key, in: schema) { line = try RecordJSON.line($0, schema) }
    return line
  }
}
