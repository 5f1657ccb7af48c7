public import DataAccess
public import PersistenceCore
public import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives

/// The objects of one kind on a server.
///
/// An answer that is not that of its request, such as the record of another key, is ``PersistenceError/Code/damaged``.
/// Besides the errors of other data sources, calls throw ``PersistenceError/Code/unreachable``,
/// ``PersistenceError/Code/timedOut`` and ``PersistenceError/Code/unauthorized``. A server of this package reads and
/// writes as if its store had the declaration of `Object` (contract S1), or throws
/// ``PersistenceError/Code/schemaMismatch`` or ``PersistenceError/Code/newerStore`` with the differences. The first write
/// defines a model, or a field, that the store does not have. A write that times out, is cancelled or loses its connection may have
/// happened; send the batch again under the same id to be sure.
public struct RemoteDataSource<Object: PersistentRecord>: DataSource {
  /// The server.
  public let server: RemoteServer

  let dialect: any RemoteDialect

  /// Whether the server returns objects in contract order.
  ///
  /// A server of this package does; for others it is unknown.
  public var hasContractOrder: Bool { server.mapping == nil }

  /// The limits of a batch that joins several writes; nil for a third-party server.
  ///
  /// The size is far below the default limit of a server of this package. A server with a lower limit rejects a longer
  /// batch, and the outbox sends smaller ones.
  public var batchLimits: BatchLimits? { server.mapping == nil ? BatchLimits() : nil }

  init(_ server: RemoteServer) {
    self.server = server
    dialect =
      if let mapping = server.mapping {
        MappedDialect(client: server.client, mapping: mapping)
      } else {
        ServerDialect(client: server.client, declared: RemoteRecord<Object>.declared)
      }
  }

  /// Inserts an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    let record = try RemoteRecord(object, at: server)
    let stored = try await dialect.insert(record)
    // A third-party server may assign the key.
    return try record.object(stored, hasSameKey: server.mapping == nil)
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    let record = try RemoteRecord(object, at: server)
    return try record.object(await dialect.update(record, replacing: nil))
  }

  /// Replaces the object of the same key if the stored object equals the expected one.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    let record = try RemoteRecord(object, at: server)
    let before = try self.before(object, expected)
    return try record.object(await dialect.update(record, replacing: before))
  }

  /// Inserts an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    let record = try RemoteRecord(object, at: server)
    return try record.object(await dialect.save(record))
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    let record = try RemoteRecord(object, at: server)
    guard let stored = try await dialect.delete(record) else { return nil }
    return try record.object(stored)
  }

  /// Applies all changes of a batch in one transaction of the server.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    var changes: [RemoteChange] = []
    for change in batch.changes {
      switch change {
      case .insert(let object): changes.append(.insert(try RemoteRecord(object, at: server)))
      case .update(let object, let expected):
        var before: RemoteRecord<Object>?
        if let expected { before = try self.before(object, expected) }
        changes.append(.update(try RemoteRecord(object, at: server), replacing: before))
      case .save(let object): changes.append(.save(try RemoteRecord(object, at: server)))
      case .delete(let object): changes.append(.delete(try RemoteRecord(object, at: server)))
      }
    }
    return try await dialect.apply(changes, id: batch.id, schema: try RemoteRecord<Object>.schema())
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    let schema = try RemoteRecord<Object>.schema()
    guard let stored = try await dialect.find(RecordKey(key.keyValues), schema) else { return nil }
    return try RemoteRecord<Object>.object(stored, schema, at: server) { row in
      try AnswerCheck.check(row, has: RecordKey(key.keyValues), in: schema)
    }
  }

  /// All objects that match a query.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    var objects: [Object] = []
    let schema = try RemoteRecord<Object>.schema()
    let asked = try remoteQuery(query)
    guard let rows = try await dialect.fetch(asked) else { return [] }
    var check = try check(asked)
    while let row = try await rows() {
      objects.append(try RemoteRecord<Object>.object(row, schema, at: server) { try check.check($0) })
    }
    return objects
  }

  /// The number of objects that match a query.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    let count = try await dialect.count(try remoteQuery(query))
    guard count >= 0, count <= query.limit ?? .max else {
      throw PersistenceError(
        .damaged, "the server's answer does not match the request: it counts \(count) records",
        model: try RemoteRecord<Object>.schema().name, location: server.client.location)
    }
    return count
  }

  /// The objects that match a query, in pages, streamed from the server.
  ///
  /// They come from one snapshot. If the connection breaks or idles for too long, which it does while the
  /// consumer pauses, the iteration resumes after the last object with the current state.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    DataSourcePages { RemotePager(source: self, dialect: dialect, query: query, size: max(1, size)).next }
  }

  /// The expected state of a change, which must have the same key.
  private func before(_ object: Object, _ expected: Object) throws(PersistenceError) -> RemoteRecord<Object> {
    try PersistenceError.catching { try object.requireSameKey(as: expected) }
    return try RemoteRecord(expected, at: server)
  }

  func remoteQuery(_ query: FetchOptions<Object>) throws(PersistenceError) -> RemoteQuery {
    try PersistenceError.catching { try RemoteQuery(query, at: server.client.location) }
  }

  /// The check of the records of a query's answer.
  func check(_ query: RemoteQuery) throws(PersistenceError) -> AnswerCheck {
    try PersistenceError.catching { try AnswerCheck(query, isOrdered: hasContractOrder) }
  }
}

extension PersistenceError {
  /// Narrows the errors of a closure to `PersistenceError`.
  static func catching<Value>(_ body: () throws -> Value) throws(PersistenceError) -> Value {
    do {
      return try body()
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(.encodingFailed, "\(error)")
    }
  }
}

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
