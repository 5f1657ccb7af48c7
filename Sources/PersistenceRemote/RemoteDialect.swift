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
  func apply(_ changes: [RemoteChange], id: UUID, schema: ModelSchema) async throws(PersistenceError) -> Bool
  func find(_ key: RecordKey, _ schema: ModelSchema) async throws(PersistenceError) -> JSONValue?
  /// The records of a query; nil if the server does not know the model.
  func fetch(_ request: FetchRequest) async throws(PersistenceError) -> Rows?
  func count(_ request: FetchRequest) async throws(PersistenceError) -> Int
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
struct ServerDialect: RemoteDialect {
  let server: RemoteServer
  let seeksByKey = true

  private var client: RemoteClient { server.client }

  func insert(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue {
    try await write(
      .init(method: .POST, path: WirePath.records(record.schema.name).text, body: record.json),
      record.schema, record.key)
  }

  func update(_ record: any RemoteRow, replacing expected: (any RemoteRow)?) async throws(PersistenceError)
    -> JSONValue
  {
    try await put(record, [("If-Match", expected?.tag.text ?? "*")])
  }

  func save(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue { try await put(record, []) }

  private func put(_ record: any RemoteRow, _ headers: [(String, String)]) async throws(PersistenceError)
    -> JSONValue
  {
    try await write(
      .init(
        method: .PUT, path: WirePath.record(record.key, in: record.schema).text, body: record.json,
        headers: headers), record.schema, record.key)
  }

  func delete(_ record: any RemoteRow) async throws(PersistenceError) -> JSONValue? {
    try await optional(
      .init(method: .DELETE, path: WirePath.record(record.key, in: record.schema).text), record.schema)
  }

  func find(_ key: RecordKey, _ schema: ModelSchema) async throws(PersistenceError) -> JSONValue? {
    try await optional(.init(method: .GET, path: WirePath.record(key, in: schema).text), schema)
  }

  func apply(_ changes: [RemoteChange], id: UUID, schema: ModelSchema) async throws(PersistenceError) -> Bool
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
      .init(method: .POST, path: WirePath.batches.text, body: batch.json), schema, nil)
    guard case .bool(let isNew)? = reply.member("applied") else {
      throw PersistenceError.damaged("the server's answer does not state whether it applied the batch").at(
        model: schema.name)
    }
    return isNew
  }

  func fetch(_ request: FetchRequest) async throws(PersistenceError) -> Rows? {
    let schema = request.schema
    guard try await isKnown(schema) else { return nil }
    let body = try PersistenceError.catching { try WireQuery.json(request) }
    switch try await client.lines(
      of: .init(method: .POST, path: WirePath.query(schema.name).text, body: body, wantsLines: true))
    {
    case .success(let lines): return { () async throws(PersistenceError) in try await lines.next() }
    case .failure(let failure) where failure.isUnknownModel: return nil
    case .failure(let failure): throw failure.error.at(model: schema.name)
    }
  }

  func count(_ request: FetchRequest) async throws(PersistenceError) -> Int {
    let schema = request.schema
    guard try await isKnown(schema) else { return 0 }
    let body = try PersistenceError.catching { try WireQuery.json(request) }
    let reply = try await client.reply(
      to: .init(method: .POST, path: WirePath.count(schema.name).text, body: body))
    if reply.isAnswer, case .number(let text)? = try reply.json().member("count"), let number = Int(text) {
      return number
    }
    let failure = failure(reply)
    if failure.isUnknownModel { return 0 }
    throw failure.error.at(model: schema.name)
  }

  private func optional(_ call: RemoteClient.Call, _ schema: ModelSchema) async throws(PersistenceError)
    -> JSONValue?
  {
    guard try await isKnown(schema) else { return nil }
    let reply = try await client.reply(to: call)
    if reply.isAnswer { return try reply.json() }
    let failure = failure(reply)
    if failure.isUnknownModel || failure.error.code == .notFound { return nil }
    throw failure.error.at(model: schema.name)
  }

  /// Sends a write, and first defines the model if the server does not know it.
  private func write(_ call: RemoteClient.Call, _ schema: ModelSchema, _ key: RecordKey?)
    async throws(PersistenceError) -> JSONValue
  {
    if try await !isKnown(schema) { try await define(schema) }
    var reply = try await client.reply(to: call)
    if !reply.isAnswer, failure(reply).isUnknownModel {
      try await define(schema)
      reply = try await client.reply(to: call)
    }
    guard reply.isAnswer else { throw failure(reply).error.at(model: schema.name, key: key) }
    return try reply.json()
  }

  private func define(_ schema: ModelSchema) async throws(PersistenceError) {
    let reply = try await client.reply(
      to: .init(method: .PUT, path: WirePath.model(schema.name).text, body: schema.json))
    guard reply.isAnswer else { throw failure(reply).error.at(model: schema.name) }
    server.markValidated(schema)
  }

  private func failure(_ reply: RemoteClient.Reply) -> RemoteFailure {
    RemoteFailure(fromServer: reply, at: client.location)
  }

  /// Whether the server knows the model.
  ///
  /// The first call compares the schemas (contract E4).
  private func isKnown(_ schema: ModelSchema) async throws(PersistenceError) -> Bool {
    if server.isValidated(schema) { return true }
    let reply = try await client.reply(to: .init(method: .GET, path: WirePath.model(schema.name).text))
    guard reply.isAnswer else {
      let failure = failure(reply)
      if failure.isUnknownModel { return false }
      throw failure.error.at(model: schema.name)
    }
    let json = try reply.json()
    try PersistenceError.catching {
      try schema.requireCompatible(with: try ModelSchema(json: json), location: client.location)
    }
    server.markValidated(schema)
    return true
  }
}

extension RemoteClient.Reply {
  /// Whether the answer is the expected one of a server of this package.
  fileprivate var isAnswer: Bool { (200..<300).contains(status) && isOf(type: "application/json") }
}

extension RemoteFailure {
  var isUnknownModel: Bool { error.code == .unknownModel }
}
