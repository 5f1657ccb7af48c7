#if HTTP
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
    /// The schemas of the store, which all requests share.
    let known = KnownModels()
    /// The changes of models, which all requests share.
    let feeds = ChangeFeeds()
    /// The schemas of the request's client, that of the path's model first; empty if the client uses those of the store.
    var declared: [ModelSchema] = []
    /// The writer of records of the first of these schemas.
    var writer: RecordWriter?
    /// Whether the request is in terms of the store, none of whose schemas has ever changed.
    var isUnmapped = false

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
      default:
        if let answer = try answerByKnownModel(request) { return answer }
        return try serving(request).answerFromStore(request)
      }
    }

    /// The answer to a read by a known schema of the store; nil if the present one must be read first.
    private func answerByKnownModel(_ request: ServiceRequest) throws -> Answer? {
      guard !request.isWriting, let name = request.path.recordModel, let model = known.model(named: name),
        try request.schemaDigests() == nil
      else { return nil }
      do {
        return switch request.path {
        case .record(_, let key): try find(key, in: model, request)
        case .records: try page(in: model, request)
        default: nil
        }
      } catch let error as PersistenceError where error.code == .schemaMismatch && error.differences.isEmpty {
        known.forget(model.schema)
        return nil
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
        service.writer = entry.writer
        service.context = FittedContext(context, entry.fits)
      } else if try SchemaLedger.exists(in: context) {
        service.context = FittedContext(context, schemas.visible)
      } else {
        service.isUnmapped = true
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
  }

  /// A request, independent of the HTTP framework.
  struct ServiceRequest: Sendable {
    enum Method: String, Sendable {
      case get = "GET"
      case head = "HEAD"
      case post = "POST"
      case put = "PUT"
      case patch = "PATCH"
      case delete = "DELETE"

      /// Whether the method can change data.
      var isWriting: Bool { self == .put || self == .patch || self == .delete || self == .post }
    }

    var method: Method
    var path: WirePath
    var parameters: String?
    /// The body; empty if there is none.
    var body: [UInt8] = []
    var ifMatch: String?
    var ifNoneMatch: String?
    /// The header Prefer (RFC 7240).
    var prefer: String?
    var idempotencyKey: String?
    /// The checkpoint of the last event that a client received (Last-Event-ID).
    var lastEventID: String?
    /// The header Authorization.
    var authorization: String?
    /// Whether the client accepts one record per line.
    var wantsLines = false

    static func methods(of path: WirePath) -> [Method] {
      switch path {
      case .health, .ready, .metrics, .description, .models, .changes, .events: [.get, .head]
      case .model: [.get, .head, .put]
      case .records: [.get, .head, .post]
      case .record: [.get, .head, .put, .patch, .delete]
      case .query, .count: [.get, .head, .post]
      case .batches: [.post]
      case .schema: [.put]
      }
    }

    /// Whether the request needs permission to write.
    ///
    /// A query in a body does not, nor does the schema of a client.
    var isWriting: Bool {
      switch path {
      case .query, .count, .schema: false
      default: method.isWriting
      }
    }

    /// Whether the request needs the store.
    ///
    /// A health check does not, so it works while the store is busy.
    var needsStore: Bool { path != .health && path != .metrics }

    var hasBody: Bool { method == .post || method == .put || method == .patch }
  }

  /// The body, parameters and tags of a request.
  extension ServiceRequest {
    func json(of content: JSONParser.Content = .envelope) throws -> JSONValue {
      do {
        return try body.withUnsafeBytes { try JSONParser.parse($0, of: content) }
      } catch let error as JSONSyntaxError {
        throw PersistenceError.invalidRequest("the body is not valid JSON: \(error)")
      }
    }

    func parameters(known: @autoclosure () -> Set<String>) throws -> QueryParameters {
      guard let parameters else { return try QueryParameters(nil, known: nil) }
      return try QueryParameters(
        parameters[...], known: path.takesSchema ? known().union(["schema"]) : known())
    }

    /// The digests of the client's schemas, that of the path's model first; nil if the request has none.
    func schemaDigests() throws -> [String]? {
      guard path.takesSchema, let parameters, Self.mayHaveSchema(parameters) else { return nil }
      return try QueryParameters(parameters[...], known: nil)["schema"]
        .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    /// Whether a parameter may be `schema`, also with escapes: no other name has a “c” in its second place.
    private static func mayHaveSchema(_ parameters: String) -> Bool {
      // Negative in a value.
      var place = 0
      for byte in parameters.utf8 {
        if byte == UInt8(ascii: "&") {
          place = 0
        } else if byte == UInt8(ascii: "=") {
          place = -1
        } else if place >= 0 {
          if byte == UInt8(ascii: "%") || (place == 1 && byte == UInt8(ascii: "c")) { return true }
          place += 1
        }
      }
      return false
    }

    /// The tags of the If-Match header, one of which the stored record must have.
    func ifMatchTags() throws -> EntityTag.List? {
      try ifMatch.map { try Self.list(EntityTag.List($0), "If-Match") }
    }

    /// The tags of the If-None-Match header, none of which the stored record may have.
    func ifNoneMatchTags() throws -> EntityTag.List? {
      try ifNoneMatch.map { try Self.list(EntityTag.List($0, matchesWeakly: true), "If-None-Match") }
    }

    private static func list(_ list: EntityTag.List?, _ name: String) throws -> EntityTag.List {
      guard let list else { throw PersistenceError.invalidRequest("the header \(name) is malformed") }
      return list
    }
  }

  /// The answer to a request, independent of the HTTP framework.
  struct Answer: Sendable {
    enum Body: Sendable {
      case none
      case json([UInt8])
      case problem(String)
      case text(String)
      /// Bytes of a media type, which are read as the client receives them.
      case stream(type: String, any AnswerStream)
      case events(EventStream)
    }

    var status: Int
    var headers: [(name: String, value: String)] = []
    /// The entity tag.
    var tag: String?
    var body = Body.none
    /// Whether the answer may be sent compressed: not one whose entity tag is that of its exact bytes.
    var isCompressible = false
    /// The code of a problem, for metrics.
    var error: PersistenceError.Code?

    static func json(_ value: JSONValue, status: Int = 200) -> Answer {
      var bytes: [UInt8] = []
      JSONText.append(value, to: &bytes)
      return Answer(status: status, body: .json(bytes), isCompressible: true)
    }

    static func record(_ line: String, status: Int = 200) -> Answer {
      Answer(status: status, tag: EntityTag(ofLine: line).text, body: .json(Array(line.utf8)))
    }

    static func problem(_ problem: Problem) -> Answer {
      var answer = Answer(status: problem.status, body: .problem(JSONText.canonical(problem.json)))
      answer.error = problem.code
      switch problem.status {
      case 401: answer.headers.append(("WWW-Authenticate", "Bearer"))
      case 503: answer.headers.append(("Retry-After", "1"))
      default: break
      }
      return answer
    }
  }
#endif
