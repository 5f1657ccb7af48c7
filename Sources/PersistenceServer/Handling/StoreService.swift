import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

/// Answers requests from a store.
///
/// It blocks, and is independent of connections.
struct StoreService: Sendable {
  /// The store, as ``serving(_:)`` shows it to a request.
  var context: any StorageContext
  let limits: ServerLimits
  var evolution = ServerEvolution.none
  /// The schemas of clients, which all requests share.
  let schemas = ServedSchemas()
  /// The changes of models, which all requests share.
  let feeds = ChangeFeeds()
  /// The schemas of the request's client, that of the path's model first; empty if the client uses those of the store.
  var declared: [ModelSchema] = []

  var queryLimits: QueryLimits {
    QueryLimits(
      pageSize: limits.pageSize, defaultPageSize: limits.defaultPageSize, depth: limits.queryDepth,
      nodes: limits.querySize)
  }

  /// Answers a valid and authorized request.
  ///
  /// - Throws: ``PersistenceError``, or `Problem` if the status depends on more than the error's code.
  func answer(_ request: ServiceRequest) throws -> Answer {
    guard request.needsStore else { return Answer(status: 204) }
    try context.requireComplete()
    switch request.path {
    // These compare declarations with the store's own schema.
    case .schema(let digest): return try accept(digest, request)
    case .model(let name) where request.method == .put: return try define(name, request)
    // These map the changes of the store themselves.
    case .changes(let name): return try changes(name, request)
    case .events(let name):
      _ = try events(name, request)
      return Answer(status: 200, headers: [("Content-Type", "text/event-stream")])
    default: return try serving(request).answerFromStore(request)
    }
  }

  private func answerFromStore(_ request: ServiceRequest) throws -> Answer {
    switch (request.path, request.method) {
    case (.health, _), (.metrics, _), (.schema, _): return Answer(status: 204)
    case (.ready, _):
      _ = try context.catalog()
      return Answer(status: 204)
    case (.description, _):
      _ = try request.parameters(known: [])
      return .json(OpenAPIDocument(try models(context.catalog()), limits: queryLimits).json)
    case (.models, _):
      _ = try request.parameters(known: [])
      return .json(["models": .array(try models(context.catalog()).map(\.json))])
    case (.model(let name), _):
      _ = try request.parameters(known: [])
      return .json(try schema(name, in: context).json)
    case (.records(let name), .post): return try insert(name, request)
    case (.records(let name), _), (.query(let name), _): return try records(query(name, request), request)
    case (.count(let name), _):
      let query = try query(name, request, WireQuery.conditions)
      let answerable = try answerable(query).request
      let count = try answerable.count()
      return .json(["count": .number("\(count)")])
    case (.record(let name, let key), .put): return try replace(name, key, request)
    case (.record(let name, let key), .patch): return try patch(name, key, request)
    case (.record(let name, let key), .delete): return try delete(name, key, request)
    case (.record(let name, let key), _): return try find(name, key, request)
    case (.batches, _): return try apply(request)
    case (.changes, _), (.events, _): throw Self.unknownModel
    }
  }

  /// The service for the schema of a request: that of its parameter `schema`, or else the store's own.
  func serving(_ request: ServiceRequest) throws -> StoreService {
    var service = self
    if let digests = try request.schemaDigests() {
      let entry = try schemas.entry(digests)
      if let model = request.path.recordModel, StoredName(model) != StoredName(entry.schemas[0].name) {
        throw PersistenceError.invalidRequest(
          "the schema of the request declares another model than the path")
      }
      service.declared = entry.schemas
      service.context = FittedContext(context, entry.fits)
    } else if try SchemaLedger.exists(in: context) {
      service.context = FittedContext(context, schemas.visible)
    }
    return service
  }

  private func models(_ catalog: [ModelSchema]) -> [ModelSchema] {
    catalog.filter { !$0.isReserved }
  }

  /// The schema of a served model, as the client of the request declares it.
  func schema(_ name: String, in reader: any StorageReader) throws -> ModelSchema {
    if let declared = declared.first(where: { StoredName($0.name) == StoredName(name) }) { return declared }
    guard !ReservedModel.isReserved(name), let schema = try reader.schema(named: name) else {
      throw Self.unknownModel
    }
    return schema
  }

  /// The query of a request, from its body or from its URL.
  private func query(
    _ name: String, _ request: ServiceRequest, _ known: Set<String> = WireQuery.parameters
  ) throws -> WireQuery {
    let schema = try schema(name, in: context)
    let relations = StoredRelations(context, declared: declared)
    guard request.method == .post else {
      return try WireQuery(
        try request.parameters(known: known), schema, relations: relations, limits: queryLimits)
    }
    _ = try request.parameters(known: [])
    return try WireQuery(request.json(), schema, relations: relations, limits: queryLimits, known: known)
  }

  private func find(_ name: String, _ key: [String], _ request: ServiceRequest) throws -> Answer {
    let schema = try schema(name, in: context)
    let parameters = try request.parameters(known: ["select"])
    let selection = try parameters["select"].map { try FieldSelection.positions($0, in: schema) }
    let key = try RecordKey(path: key, in: schema)
    let (wanted, unwanted) = (try request.ifMatchTags(), try request.ifNoneMatchTags())
    var found: (line: String, answer: String)?
    _ = try context.find(key, in: schema) { row in
      let line = try RecordJSON.line(row, schema)
      found = (line, try selection.map { try RecordJSON.line(row, schema, selecting: $0) } ?? line)
    }
    guard let found else { throw PersistenceError.notFound(key, in: schema) }
    // The tag is that of the whole record, so that it also guards a write.
    let tag = EntityTag(ofLine: found.line)
    guard wanted?.matches(tag) != false else {
      throw Problem(
        status: 412, .conflict, "the stored record differs from the expected one; read it again",
        model: schema.name)
    }
    guard unwanted?.matches(tag) != true else { return Answer(status: 304, headers: [("ETag", tag.text)]) }
    return Answer(status: 200, headers: [("ETag", tag.text)], body: .json(found.answer))
  }

  /// The canonical line of a record; nil if it does not exist.
  func line(of key: RecordKey, _ schema: ModelSchema, in reader: any StorageReader) throws -> String? {
    var line: String?
    _ = try reader.find(key, in: schema) { line = try RecordJSON.line($0, schema) }
    return line
  }
}
