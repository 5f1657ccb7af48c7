public import PersistenceDriver

extension PersistentRecord {
  /// Fetches the records of a context lazily.
  public static func fetch(in context: any PersistentContext, options: FetchOptions<Self>?) throws
    -> AnyCollection<Self>
  {
    AnyCollection(try results(in: context, options: options ?? FetchOptions()))
  }

  /// Fetches the records of a context lazily, as the concrete collection behind
  /// ``PersistentModel/fetch(in:options:)``.
  ///
  /// It is Sendable, and has methods that throw if reading fails. The first page is already read.
  @usableFromInline
  package static func results(
    in context: any PersistentContext, options: FetchOptions<Self> = FetchOptions()
  ) throws -> PersistentResults<Self> {
    try results(in: context, options: options, selecting: nil) { try Self(from: $0) }
  }

  /// The results of a fetch of whole records (nil) or selected fields.
  ///
  /// They are pinned outside transactions, and read at once inside them (R1a).
  static func results<Element: Sendable>(
    in context: any PersistentContext, options: FetchOptions<Self>, selecting selected: [Int]?,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws -> PersistentResults<Element> {
    try StorageAccess.withRequest(of: options, in: context) { access, answerable in
      let (reader, request) = (answerable.reader, answerable.request)
      let (monitor, location) = (access.root.monitor, access.root.location)
      return try monitor.measure(request) {
        try reader.plan(for: request)
      } _: {
        let rows = try answerable.fetch(selecting: selected)
        let decoder = RowDecoder(
          schema: request.schema, selecting: selected, location: location, decode: decode)
        let storage =
          switch access {
          case .store: try ResultStorage(rows, of: request, decoder, monitor, place: options.place)
          case .transaction: try ResultStorage(reading: rows, decoder, monitor)
          }
        return PersistentResults(storage: storage)
      }
    }
  }

  /// Counts the records of a context without decoding them.
  public static func count(in context: any PersistentContext, options: FetchOptions<Self>?) throws -> Int {
    try StorageAccess.withRequest(of: options ?? FetchOptions(), in: context) { access, answerable in
      let (reader, request) = (answerable.reader, answerable.request)
      return try access.root.monitor.measure(request) {
        try reader.plan(for: request)
      } _: {
        try answerable.count()
      }
    }
  }

  @inlinable
  package static func find(_ key: PrimaryKey, in context: any PersistentContext) throws -> Self? {
    let reader = try LocatedReader(context, for: Self.self, hasFormerNames: schema.hasFormerNames)
    do {
      return try read(RecordKey(key.keyValues), as: schema.model, from: reader)
    } catch let error as PersistenceError where error.code == .schemaMismatch {
      return try findFitted(key, in: context, after: error)
    }
  }

  /// Reads through a mapping, because the store contains another schema.
  @usableFromInline
  static func findFitted(
    _ key: PrimaryKey, in context: any PersistentContext, after error: PersistenceError
  ) throws -> Self? {
    let access = try StorageAccess(context, for: Self.self).fitted(for: Self.self, after: error, in: context)
    return try read(
      RecordKey(key.keyValues), as: schema.model, from: LocatedReader(access.reader, of: access.root))
  }

  /// Reads the record with a key, and adds the key to errors.
  ///
  /// It is specialized for the model: returning a record from a closure through generic code costs as much as
  /// finding it.
  @inlinable
  static func read(_ key: RecordKey, as schema: ModelSchema, from reader: LocatedReader) throws -> Self? {
    var record: Self?
    do {
      _ = try reader.reader.find(key, in: schema) { record = try Self(from: $0) }
    } catch {
      throw reader.located(error, key, schema)
    }
    return record
  }
}
