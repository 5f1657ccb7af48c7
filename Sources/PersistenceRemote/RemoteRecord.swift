import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

/// An object in the form of the wire: its key and its fields.
struct RemoteRecord<Object: PersistentRecord>: RemoteRow {
  let schema: ModelSchema
  let key: RecordKey
  let json: JSONValue
  private let server: RemoteServer

  init(_ object: Object, at server: RemoteServer) throws(PersistenceError) {
    let schema = try Self.schema()
    self.schema = schema
    self.server = server
    (key, json) = try PersistenceError.catching { (object.recordKey, try Self.json(object)) }
  }

  /// The fields of an object.
  static func json(_ object: Object) throws -> JSONValue {
    let schema = try Object.schema.model
    let row = RowBuffer(count: schema.fields.count)
    try object.encode(into: row)
    // Reject invalid records as a store would, without sending them.
    return try row.withRow { row in
      try schema.validate(row)
      return try ValueWriter.json(row, in: schema)
    }
  }

  /// The declaration for the server.
  static var declared: Result<WireSchema, PersistenceError> {
    Result { () throws(PersistenceError) in
      try PersistenceError.catching { try WireSchema(Object.schema.declaration) }
    }
  }

  static func schema() throws(PersistenceError) -> ModelSchema {
    try PersistenceError.catching { try Object.schema.model }
  }

  /// Decodes the stored object from the server's answer.
  func object(_ json: JSONValue, hasSameKey: Bool = true) throws(PersistenceError) -> Object {
    try Self.object(json, schema, at: server) { row in
      if hasSameKey { try AnswerCheck.check(row, has: key, in: schema) }
    }
  }

  /// Decodes an object from the server's answer, after a check of its row.
  static func object(
    _ json: JSONValue, _ schema: ModelSchema, at server: RemoteServer,
    check: (borrowing Row) throws -> Void
  ) throws(PersistenceError) -> Object {
    do {
      let row = RowBuffer(count: schema.fields.count)
      try RecordJSON.read(json, schema, into: row)
      return try row.withRow { row in
        try check(row)
        return try Object(from: row)
      }
    } catch let mismatch as AnswerMismatch {
      throw PersistenceError(
        .damaged, "the server's answer does not match the request: \(mismatch.reason)", model: schema.name,
        location: server.client.location)
    } catch {
      let known = error as? PersistenceError
      throw PersistenceError(
        .damaged, "cannot decode a \(schema.name) from the server's record: \(known?.message ?? "\(error)")",
        model: schema.name, field: known?.field, location: server.client.location)
    }
  }
}
