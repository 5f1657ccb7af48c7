public import DataAccess
public import PersistenceCore
public import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives
import PersistenceDriverSupport

/// The objects of one kind on a server.
///
/// Besides the errors of other data sources, calls throw ``PersistenceError/Code/unreachable``,
/// ``PersistenceError/Code/timedOut`` and ``PersistenceError/Code/unauthorized``. A server of this package reads and
/// writes as if its store had the declaration of `Object` (contract S1), or throws
/// ``PersistenceError/Code/schemaMismatch`` or ``PersistenceError/Code/newerStore`` with the differences. The first write
/// defines a model, or a field, that the store does not have. A write that times out, is cancelled or loses its connection may have
/// happened; send the batch again under the same id to be sure.
public struct RemoteDataSource<Object: PersistentRecord>: DataSource {
  /// The server.
  public let server: RemoteServer

  private let dialect: any RemoteDialect

  /// Whether the server returns objects in contract order.
  ///
  /// A server of this package does; for others it is unknown.
  public var hasContractOrder: Bool { server.mapping == nil }

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
    return try record.object(await dialect.insert(record))
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
    return try RemoteRecord<Object>.object(stored, schema, at: server)
  }

  /// All objects that match a query.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    var objects: [Object] = []
    let schema = try RemoteRecord<Object>.schema()
    guard let rows = try await dialect.fetch(try request(query)) else { return [] }
    while let row = try await rows() {
      objects.append(try RemoteRecord<Object>.object(row, schema, at: server))
    }
    return objects
  }

  /// The number of objects that match a query.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await dialect.count(try request(query))
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

  func request(_ query: FetchOptions<Object>) throws(PersistenceError) -> FetchRequest {
    try PersistenceError.catching { try query.request(at: server.client.location) }
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
    (key, json) = try PersistenceError.catching {
      let row = RowBuffer(count: schema.fields.count)
      try object.encode(into: row)
      // Reject invalid records as a store would, without sending them.
      return try row.withRow { row in
        try schema.validate(row)
        return (object.recordKey, try ValueWriter.json(row, in: schema))
      }
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
  func object(_ json: JSONValue) throws(PersistenceError) -> Object {
    try Self.object(json, schema, at: server)
  }

  static func object(_ json: JSONValue, _ schema: ModelSchema, at server: RemoteServer)
    throws(PersistenceError) -> Object
  {
    do {
      let row = RowBuffer(count: schema.fields.count)
      try RecordJSON.read(json, schema, into: row)
      return try row.withRow { try Object(from: $0) }
    } catch {
      let known = error as? PersistenceError
      throw PersistenceError(
        .damaged, "cannot decode a \(schema.name) from the server's record: \(known?.message ?? "\(error)")",
        model: schema.name, field: known?.field, location: server.client.location)
    }
  }
}

/// Reads the records of a streamed answer in pages, and resumes after the last record if the stream breaks.
final class RemotePager<Object: PersistentRecord>: @unchecked Sendable {  // one task at a time uses it
  private let source: RemoteDataSource<Object>
  private let dialect: any RemoteDialect
  private let size: Int
  private var query: FetchOptions<Object>
  private var rows: RemoteDialect.Rows?
  private var isAtEnd = false

  init(source: RemoteDataSource<Object>, dialect: any RemoteDialect, query: FetchOptions<Object>, size: Int) {
    self.source = source
    self.dialect = dialect
    self.query = query
    self.size = size
  }

  @Sendable
  func next() async throws(PersistenceError) -> [Object]? {
    if Task.isCancelled {
      throw TransportFailure.error(CancellationError(), location: source.server.client.location)
    }
    var page: [Object] = []
    // Resume once for each record: a second failure without progress ends the iteration.
    var failures = 0
    while page.count < size, !isAtEnd {
      do throws(PersistenceError) {
        guard let object = try await object() else {
          isAtEnd = true
          break
        }
        page.append(object)
        failures = 0
        query.after = object
        query.token = nil
        query.offset = 0
        query.limit = query.limit.map { $0 - 1 }
      } catch {
        failures += 1
        let hasBegun = rows != nil
        rows = nil
        guard hasBegun, failures < 2, dialect.seeksByKey, error.isRetryable, !Task.isCancelled else {
          isAtEnd = true
          throw error
        }
      }
    }
    if isAtEnd { rows = nil }
    return page.isEmpty ? nil : page
  }

  private func object() async throws(PersistenceError) -> Object? {
    let schema = try RemoteRecord<Object>.schema()
    if rows == nil {
      if query.limit == 0 { return nil }
      rows = try await dialect.fetch(try source.request(query))
    }
    guard let rows, let row = try await rows() else { return nil }
    return try RemoteRecord<Object>.object(row, schema, at: source.server)
  }
}
