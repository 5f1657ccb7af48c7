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
  @inlinable
  package static func results(
    in context: any PersistentContext, options: FetchOptions<Self> = FetchOptions()
  ) throws -> PersistentResults<Self> {
    try results(in: context, options: options, selecting: nil) { try Self(from: $0) }
  }

  /// The results of a fetch of whole records (nil) or selected fields.
  @inlinable
  static func results<Element: Sendable>(
    in context: any PersistentContext, options: FetchOptions<Self>, selecting selected: [Int]?,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws -> PersistentResults<Element> {
    var storage: ResultStorage<Element>?
    try FetchedRows.fetch(RequestOptions(options), in: context, selecting: selected) { fetched in
      storage = try ResultStorage(fetched, RowDecoder(fetched.origin, decode: decode))
    }
    guard let storage else { throw PersistenceError.noRows }
    return PersistentResults(storage: storage)
  }

  /// Counts the records of a context without decoding them.
  public static func count(in context: any PersistentContext, options: FetchOptions<Self>?) throws -> Int {
    try StorageAccess.withRequest(of: RequestOptions(options ?? FetchOptions()), in: context) {
      access, answerable in
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
    let type = try recordType
    let access = try StorageAccess(context, for: type).fitted(for: type, after: error, in: context)
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

extension PersistenceError {
  /// The error of a fetch that never called its closure.
  @usableFromInline static var noRows: PersistenceError {
    PersistenceError(.engineFailure, "the context ended a fetch without rows; report this to its author")
  }
}
