import PersistenceCore
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// An object on its way to a server: its key and its fields.
struct RemoteRecord<Object: PersistentRecord>: RemoteRow {
  let schema: ModelSchema
  let key: RecordKey
  let json: JSONValue
  private let server: RemoteServer

  init(_ object: Object, at server: RemoteServer) throws(PersistenceError) {
    let schema = try Self.schema()
    self.schema = schema
    self.server = server
    (key, json) = try PersistenceError.catching {
      let row = RowBuffer(count: schema.fields.count)
      try object.encode(into: row)
      // What no store would take is refused here as a store does it, and not sent.
      return try row.withRow { row in
        try schema.validate(row)
        return (object.recordKey, try RecordJSON.json(row, schema))
      }
    }
  }

  static func schema() throws(PersistenceError) -> ModelSchema {
    try PersistenceError.catching { try Object.schema.model }
  }

  /// The object that the server says is stored.
  func object(_ json: JSONValue) throws(PersistenceError) -> Object {
    try Self.object(json, schema, at: server)
  }

  static func object(_ json: JSONValue, _ schema: ModelSchema, at server: RemoteServer)
    throws(PersistenceError)
    -> Object
  {
    do {
      let row = RowBuffer(count: schema.fields.count)
      try RecordJSON.read(json, schema, into: row)
      return try row.withRow { try Object(from: $0) }
    } catch let error as PersistenceError {
      throw PersistenceError(
        .damaged, "a record of the server is no \(schema.name): \(error.message)", model: schema.name,
        field: error.field, location: server.client.location)
    } catch {
      throw PersistenceError(
        .damaged, "a record of the server is no \(schema.name): \(error)", model: schema.name,
        location: server.client.location)
    }
  }
}

/// A record as the dialects see it, whatever type it is of.
protocol RemoteRow: Sendable {
  var schema: ModelSchema { get }
  var key: RecordKey { get }
  var json: JSONValue { get }
}

extension RemoteRow {
  /// The tag that the server has for this state of the record.
  var tag: EntityTag { EntityTag(ofLine: JSONText.canonical(json)) }
}

/// A change as the dialects see it.
enum RemoteChange: Sendable {
  case insert(any RemoteRow)
  case update(any RemoteRow, replacing: (any RemoteRow)?)
  case save(any RemoteRow)
  case delete(any RemoteRow)
}
