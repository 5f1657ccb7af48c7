#if HTTP
  public import DataAccess
  import PersistenceCore
  public import PersistenceDriver

  extension RemoteDataSource {
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
    public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object
    {
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

    /// The expected state of a change, which must have the same key.
    private func before(_ object: Object, _ expected: Object) throws(PersistenceError) -> RemoteRecord<Object>
    {
      try PersistenceError.catching { try object.requireSameKey(as: expected) }
      return try RemoteRecord(expected, at: server)
    }
  }

  extension RemoteRecord {
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
  }
#endif
