public import DataAccess
public import PersistenceCore
public import PersistenceDriver

/// The objects of one kind that a server keeps: a store like any other, whose calls may also fail with
/// ``PersistenceError/Code/unreachable``, ``PersistenceError/Code/timedOut`` and ``PersistenceError/Code/unauthorized``.
///
/// A model that the server does not know yet is defined by the first write. A write that times out, is cancelled or
/// loses its connection may have been made; sending a batch again under its id settles it.
public struct RemoteDataSource<Object: PersistentRecord>: DataSource {
  /// The server.
  public let server: RemoteServer

  private let dialect: any RemoteDialect

  /// Whether answers come in the order of the contract: those of a server of this package do, of others it is not known.
  public var hasContractOrder: Bool { server.mapping == nil }

  init(_ server: RemoteServer) {
    self.server = server
    dialect =
      if let mapping = server.mapping {
        MappedDialect(client: server.client, mapping: mapping)
      } else {
        ServerDialect(server: server)
      }
  }

  /// Adds an object.
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

  /// Replaces the object of the same key, if what is stored is still what was expected.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    let record = try RemoteRecord(object, at: server)
    let before = try self.before(object, expected)
    return try record.object(await dialect.update(record, replacing: before))
  }

  /// Adds an object, or replaces the one of the same key.
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

  /// Makes several changes in one transaction of the server.
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

  /// The objects of a query, whole.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    var objects: [Object] = []
    let schema = try RemoteRecord<Object>.schema()
    guard let rows = try await dialect.fetch(try request(query)) else { return [] }
    while let row = try await rows() {
      objects.append(try RemoteRecord<Object>.object(row, schema, at: server))
    }
    return objects
  }

  /// How many objects a query has.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await dialect.count(try request(query))
  }

  /// The objects of a query, a page at a time, as they come from the server.
  ///
  /// They are as they were when the first was asked for. Where the connection breaks off or stands still for too long,
  /// as it does while nobody asks for pages, the walk goes on after the last object, with what is stored then.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    DataSourcePages { RemotePager(store: self, dialect: dialect, query: query, size: max(1, size)).next }
  }

  /// The state that a change begins with, which is of the same record.
  private func before(_ object: Object, _ expected: Object) throws(PersistenceError) -> RemoteRecord<Object> {
    try PersistenceError.catching { try object.requireSameKey(as: expected) }
    return try RemoteRecord(expected, at: server)
  }

  func request(_ query: FetchOptions<Object>) throws(PersistenceError) -> FetchRequest {
    try PersistenceError.catching { try query.request(at: server.client.location) }
  }
}

extension PersistenceError {
  /// Runs a closure that throws errors of this package only, though its signature does not say so.
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
