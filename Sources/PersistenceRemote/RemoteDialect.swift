#if HTTP
  import Foundation
  import NIOHTTP1
  import PersistenceDriver
  import PersistenceHTTP
  import PersistencePrimitives

  /// The protocol of a kind of server: its requests and its answers.
  protocol RemoteDialect: Sendable {
    /// Returns the next record of an answer; nil at the end.
    typealias Rows = @Sendable () async throws(PersistenceError) -> JSONValue?

    /// Whether a query can start after a record.
    var seeksByKey: Bool { get }

    func insert(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue
    func update(_ record: any RemoteRow, replacing expected: (any RemoteRow)?) async throws(PersistenceError)
      -> JSONValue
    func save(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue
    /// The deleted record; nil if it did not exist.
    func delete(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue?
    /// Whether this request applied the changes, and not an earlier one with the same id.
    func apply(_ changes: [RemoteChange], id: UUID, schema: ModelSchema) async throws(PersistenceError)
      -> Bool
    func find(_ key: RecordKey, _ schema: ModelSchema) async throws(PersistenceError) -> JSONValue?
    /// The records of a query; nil if the server does not know the model.
    func fetch(_ query: RemoteQuery) async throws(PersistenceError) -> Rows?
    func count(_ query: RemoteQuery) async throws(PersistenceError) -> Int
    /// A page of a query with included records; nil if the server does not know the model.
    func page(_ query: RemoteQuery) async throws(PersistenceError) -> RemotePage?
    /// The changes of a model since a checkpoint, as the server's answer.
    func changes(since checkpoint: String?, limit: Int?, _ schema: ModelSchema) async throws(PersistenceError)
      -> JSONValue
    /// The changes of a model since a checkpoint, as events.
    func events(since checkpoint: String?, _ schema: ModelSchema) async throws(PersistenceError)
      -> RemoteEvents
  }

  extension RemoteDialect {
    func changes(since checkpoint: String?, limit: Int?, _ schema: ModelSchema) async throws(PersistenceError)
      -> JSONValue
    { throw Self.cannotTrack(schema) }

    func events(since checkpoint: String?, _ schema: ModelSchema) async throws(PersistenceError)
      -> RemoteEvents
    { throw Self.cannotTrack(schema) }

    private static func cannotTrack(_ schema: ModelSchema) -> PersistenceError {
      PersistenceError(
        .unsupported, "only a server of this package tells the changes since a checkpoint", model: schema.name
      )
    }
  }

  /// A record of an erased type, for the dialects.
  protocol RemoteRow: Sendable {
    var schema: ModelSchema { get }
    var key: RecordKey { get }
    var json: JSONValue { get }
  }

  extension RemoteRow {
    /// The server's entity tag for this state of the record.
    var tag: EntityTag { EntityTag(ofLine: JSONText.canonical(json)) }
  }

  /// A change of an erased type, for the dialects.
  enum RemoteChange: Sendable {
    case insert(any RemoteRow)
    case update(any RemoteRow, replacing: (any RemoteRow)?)
    case save(any RemoteRow)
    case delete(any RemoteRow)
  }

  /// The dialect of a server of this package.
  ///
  /// Each request has the digest of the client's schema, so that the server answers in its terms and keeps the fields
  /// that it lacks. No request depends on what an earlier one found: the store may change at any time.
  struct ServerDialect: RemoteDialect {
    let client: RemoteClient
    /// The declaration of the client's code.
    let declared: Result<WireSchema, PersistenceError>
    let seeksByKey = true

    func insert(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue {
      try await write(
        .init(method: .POST, path: path(.records(record.schema.name)), body: record.json),
        record.schema, record.key)
    }

    func update(_ record: any RemoteRow, replacing expected: (any RemoteRow)?) async throws(PersistenceError)
      -> JSONValue
    {
      try await put(record, [("If-Match", expected?.tag.text ?? "*")])
    }

    func save(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue {
      try await put(record, [])
    }

    private func put(_ record: any RemoteRow, _ headers: [(String, String)]) async throws(PersistenceError)
      -> JSONValue
    {
      try await write(
        .init(
          method: .PUT, path: path(.record(record.key, in: record.schema)), body: record.json,
          headers: headers), record.schema, record.key)
    }

    func delete(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue? {
      try await optional(
        .init(method: .DELETE, path: path(.record(record.key, in: record.schema))), record.schema)
    }

    func find(_ key: RecordKey, _ schema: ModelSchema) async throws(PersistenceError) -> JSONValue? {
      try await optional(.init(method: .GET, path: path(.record(key, in: schema))), schema)
    }

    func apply(_ changes: [RemoteChange], id: UUID, schema: ModelSchema) async throws(PersistenceError)
      -> Bool
    {
      let batch = WireBatch(
        try PersistenceError.catching {
          try changes.map { change in
            switch change {
            case .insert(let record): .init(schema.name, .insert, record.json)
            case .update(let record, let expected):
              .init(schema.name, .update, record.json, ifMatch: expected?.tag)
            case .save(let record): .init(schema.name, .save, record.json)
            case .delete(let record): .init(schema.name, .delete, try RecordJSON.json(record.key, schema))
            }
          }
        }, id: id)
      let reply = try await write(
        .init(method: .POST, path: path(.batches), body: batch.json), schema, nil)
      guard case .bool(let isNew)? = reply.member("applied") else {
        throw PersistenceError.damaged("the server's answer does not state whether it applied the batch").at(
          model: schema.name)
      }
      return isNew
    }

    func fetch(_ query: RemoteQuery) async throws(PersistenceError) -> Rows? {
      let schema = query.schema
      let call = RemoteClient.Call(
        method: .POST, path: try path(.query(schema.name), query.related), body: try query.body(),
        wantsLines: true)
      switch try await lines(of: call, schema, query.related) {
      case .success(let lines): return { () async throws(PersistenceError) in try await lines.next() }
      case .failure(let failure) where failure.isUnknownModel: return nil
      case .failure(let failure): throw failure.error.at(model: schema.name)
      }
    }

    func page(_ query: RemoteQuery) async throws(PersistenceError) -> RemotePage? {
      let schema = query.schema
      let call = RemoteClient.Call(
        method: .POST, path: try path(.query(schema.name), query.related), body: try query.body())
      let reply = try await reply(to: call, schema, query.related)
      guard reply.isAnswer else {
        let failure = failure(reply)
        if failure.isUnknownModel { return nil }
        throw failure.error.at(model: schema.name)
      }
      guard let page = try RemotePage(reply.json()) else {
        throw PersistenceError.damaged("the server's answer is not a page of records").at(model: schema.name)
      }
      return page
    }

    func count(_ query: RemoteQuery) async throws(PersistenceError) -> Int {
      let schema = query.schema
      let reply = try await reply(
        to: .init(method: .POST, path: path(.count(schema.name), query.related), body: query.body()), schema,
        query.related)
      if reply.isAnswer, case .number(let text)? = try reply.json().member("count"), let number = Int(text) {
        return number
      }
      let failure = failure(reply)
      if failure.isUnknownModel { return 0 }
      throw failure.error.at(model: schema.name)
    }

    func changes(since checkpoint: String?, limit: Int?, _ schema: ModelSchema) async throws(PersistenceError)
      -> JSONValue
    {
      var path = try path(.changes(schema.name)) + Self.since(checkpoint)
      if let limit { path += "&limit=\(limit)" }
      let reply = try await reply(to: .init(method: .GET, path: path), schema)
      guard reply.isAnswer else { throw failure(reply).error.at(model: schema.name) }
      return try reply.json()
    }

    func events(since checkpoint: String?, _ schema: ModelSchema) async throws(PersistenceError)
      -> RemoteEvents
    {
      let path = try path(.events(schema.name)) + Self.since(checkpoint)
      let lines = try await lines(of: .init(method: .GET, path: path, wantsEvents: true), schema)
      do {
        return RemoteEvents(try lines.get(), sizeLimit: client.options.answerSize, location: client.location)
      } catch {
        throw error.error.at(model: schema.name)
      }
    }

    private static func since(_ checkpoint: String?) -> String {
      checkpoint.map { "&since=" + PathSegment.escaped($0) } ?? ""
    }

    private func optional(_ call: RemoteClient.Call, _ schema: ModelSchema) async throws(PersistenceError)
      -> JSONValue?
    {
      let reply = try await reply(to: call, schema)
      if reply.isAnswer { return try reply.json() }
      let failure = failure(reply)
      if failure.isUnknownModel || failure.error.code == .notFound { return nil }
      throw failure.error.at(model: schema.name)
    }

    /// Sends a write, and first defines the model if the server's store cannot keep every record of the declaration.
    private func write(_ call: RemoteClient.Call, _ schema: ModelSchema, _ key: RecordKey?)
      async throws(PersistenceError) -> JSONValue
    {
      var reply = try await reply(to: call, schema)
      if !reply.isAnswer, failure(reply).isUnknownModel {
        try await send(declared.get(), to: .model(schema.name), schema)
        reply = try await self.reply(to: call, schema)
      }
      guard reply.isAnswer else { throw failure(reply).error.at(model: schema.name, key: key) }
      return try reply.json()
    }

    /// Sends a request again if the server does not know the schema.
    private func reply(to call: RemoteClient.Call, _ schema: ModelSchema, _ related: [WireSchema] = [])
      async throws(PersistenceError) -> RemoteClient.Reply
    {
      var reply = try await client.reply(to: call)
      for _ in 0..<Self.serverLimit where !reply.isAnswer && failure(reply).error.code == .unknownSchema {
        try await sendSchemas(related, for: schema)
        reply = try await client.reply(to: call)
      }
      return reply
    }

    /// Sends a streamed request again if the server does not know the schema.
    private func lines(of call: RemoteClient.Call, _ schema: ModelSchema, _ related: [WireSchema] = [])
      async throws(PersistenceError) -> Result<RemoteLines, RemoteFailure>
    {
      var answer = try await client.lines(of: call)
      for _ in 0..<Self.serverLimit {
        guard case .failure(let failure) = answer, failure.error.code == .unknownSchema else { break }
        try await sendSchemas(related, for: schema)
        answer = try await client.lines(of: call)
      }
      return answer
    }

    /// How often to send the schema: several servers behind one address learn it one by one.
    private static let serverLimit = 8

    private func sendSchemas(_ related: [WireSchema], for schema: ModelSchema) async throws(PersistenceError)
    {
      let declared = try declared.get()
      for sent in [declared] + related { try await send(sent, to: .schema(sent.digest), schema) }
    }

    /// Sends a declaration.
    private func send(_ declared: WireSchema, to path: WirePath, _ schema: ModelSchema)
      async throws(PersistenceError)
    {
      let reply = try await client.reply(to: .init(method: .PUT, path: path.text, body: declared.json))
      guard reply.isAnswer else { throw failure(reply).error.at(model: schema.name) }
    }

    /// The path of a request in terms of the declaration, and of those of related models.
    private func path(_ path: WirePath, _ related: [WireSchema] = []) throws(PersistenceError) -> String {
      let digests = [try declared.get().digest] + related.map(\.digest)
      return path.text + "?schema=" + digests.joined(separator: ",")
    }

    private func failure(_ reply: RemoteClient.Reply) -> RemoteFailure {
      RemoteFailure(fromServer: reply, at: client.location)
    }
  }

  extension RemoteClient.Reply {
    /// Whether the answer is the expected one of a server of this package.
    fileprivate var isAnswer: Bool { (200..<300).contains(status) && isOf(type: "application/json") }
  }

  extension RemoteFailure {
    var isUnknownModel: Bool { error.code == .unknownModel }
  }
#endif
