#if HTTP
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

    func remoteQuery(_ query: FetchOptions<Object>) throws(PersistenceError) -> RemoteQuery {
      try PersistenceError.catching { try RemoteQuery(query, at: server.client.location) }
    }

    /// The check of the records of a query's answer.
    func check(_ query: RemoteQuery) throws(PersistenceError) -> AnswerCheck {
      try PersistenceError.catching { try AnswerCheck(query, isOrdered: hasContractOrder) }
    }
  }

  /// A query for a server, which answers what it asks of related records.
  struct RemoteQuery: Sendable {
    /// The query.
    private(set) var query: RelatedQuery
    /// The query as one request; nil if it asks of related records.
    let request: FetchRequest?
    /// What the answer has besides the records.
    var inclusions: [RelatedInclusion] = []
    /// The related models, as the client declares them.
    let related: [WireSchema]
    /// The token, the values or the record that the page begins after.
    private var after: JSONValue?

    var schema: ModelSchema { query.schema }

    /// The maximum number of records of the next page.
    var limit: Int? {
      get { query.limit }
      set { query.limit = newValue }
    }

    /// Continues after a page, with its token.
    mutating func `continue`(after token: String) {
      after = .string(token)
      query.offset = 0
    }

    /// A query for records of a model, and the types of related ones.
    init<Object: PersistentRecord>(
      _ options: FetchOptions<Object>, including types: [any PersistentRecord.Type] = [], at location: String
    ) throws {
      let related = options.related + types
      var declared: [WireSchema] = []
      for type in related {
        let schema = try WireSchema(type.declaration)
        let isKnown = (declared.map(\.declaration.schema) + [try Object.schema.model]).contains {
          StoredName($0.name) == StoredName(schema.declaration.schema.name)
        }
        if !isKnown { declared.append(schema) }
      }
      self.related = declared
      query = try options.relatedQuery()
      guard query.isRelated else {
        let request = try options.request(at: location)
        self.request = request
        after = try request.after.map { try PositionToken.json($0, request.orderFields) }
        return
      }
      guard options.token == nil else {
        throw PersistenceError(
          .unsupported,
          "a page token of a repository does not continue a server's query over related records",
          model: query.schema.name)
      }
      request = nil
      after = try options.after.map { try RemoteRecord<Object>.json($0) }
    }

    func body() throws(PersistenceError) -> JSONValue {
      try PersistenceError.catching {
        let declared = related.map(\.declaration.schema) + [schema]
        return try WireQuery.json(query, after: after, including: inclusions, related: declared)
      }
    }
  }

  extension FetchRequest {
    /// The fields of a bookmark.
    fileprivate var orderFields: [FieldSchema] {
      get throws { try totalOrder.map { try schema.requiredField(named: $0.field) } }
    }
  }

  /// Checks that the records of an answer are those of its request: no more than asked for, and in order.
  ///
  /// A proxy that mixes up answers, or a server that ignores a parameter, would otherwise give an app the records of
  /// another request, or the same page for ever.
  struct AnswerCheck {
    private let order: RowOrder?
    private let limit: Int?
    private var count = 0
    private var previous: [PersistentValue]?

    /// Prepares the check of a query's records.
    ///
    /// Only a server of this package sends them in the contract's order, and only the server knows an order by fields of
    /// related records.
    init(_ query: RemoteQuery, isOrdered: Bool) throws {
      limit = query.query.limit
      guard isOrdered, let request = query.request else {
        order = nil
        return
      }
      order = try RowOrder(request.totalOrder, in: request.schema)
      // An engine may store dates with less precision than the app's anchor has.
      let hasDate = request.after?.values.contains { if case .date = $0 { true } else { false } } ?? false
      previous = hasDate ? nil : request.after?.values
    }

    /// Checks the next record.
    ///
    /// - Throws: ``AnswerMismatch``.
    mutating func check(_ row: borrowing Row) throws {
      count += 1
      if let limit, count > limit {
        throw AnswerMismatch(reason: "it has more records than the limit of \(limit)")
      }
      guard let order else { return }
      let next = try order.key(of: row)
      if let previous, order.compare(previous, next) >= 0 {
        throw AnswerMismatch(reason: "its records are out of order, or repeated")
      }
      previous = next
    }

    /// Checks that a record is the one that the request names.
    ///
    /// - Throws: ``AnswerMismatch``.
    static func check(_ row: borrowing Row, has key: RecordKey, in schema: ModelSchema) throws {
      let found = try RecordKey(of: row, in: schema)
      guard RecordKey.compare(found, key) == 0 else {
        throw AnswerMismatch(reason: "it has the record of \(found) instead of \(key)")
      }
    }
  }

  /// Why an answer is not that of its request.
  struct AnswerMismatch: Error {
    let reason: String
  }

  /// An object in the form of the wire: its key and its fields.
  struct RemoteRecord<Object: PersistentRecord>: RemoteRow {
    let schema: ModelSchema
    let key: RecordKey
    let json: JSONValue
    let server: RemoteServer

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
          .damaged,
          "cannot decode a \(schema.name) from the server's record: \(known?.message ?? "\(error)")",
          model: schema.name, field: known?.field, location: server.client.location)
      }
    }
  }
#endif
